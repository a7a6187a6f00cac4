import {
  canonicalJson,
  CountersignError,
  decodeBase64Url,
  decodeHex,
  encodeBase64Url,
  encodeHex,
  sha256,
} from "@countersign/core";
import { exportPublicKeyPem, importPublicKeyPem } from "@countersign/core/verify";
import "../model/errors.js";

/** An Ed25519 public key as JWK (RFC 8037). */
export type Ed25519Jwk = { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string };

/** A public key in any encoding: `ed25519:<hex>`, bare hex, PEM, JWK, or 32 raw bytes. */
export type PublicKeyInput = string | Uint8Array | { readonly [member: string]: unknown };

const HEX = /^(?:ed25519:)?([0-9a-f]{64})$/;

/**
 * The 32 raw bytes of a public key. Weak keys (small order, non-canonical) are refused.
 *
 * @throws CountersignError `ERR_CAPABILITY_KEY`
 */
export function readPublicKey(input: PublicKeyInput): Uint8Array {
  const raw = rawKey(input);
  if (raw === undefined || raw.length !== 32) throw keyError();
  try {
    // The PEM import in core rejects weak keys.
    return importPublicKeyPem(exportPublicKeyPem(raw));
  } catch {
    throw keyError();
  }
}

/** `ed25519:<hex>`: the name of a key as an issuer. */
export function keyName(publicKey: Uint8Array): string {
  return `ed25519:${encodeHex(publicKey)}`;
}

/** The JWK of a public key. */
export function toJwk(publicKey: Uint8Array): Ed25519Jwk {
  return { kty: "OKP", crv: "Ed25519", x: encodeBase64Url(publicKey) };
}

/** The thumbprint (RFC 7638) of a public key: the `kid` of the tokens it signs. */
export function keyThumbprint(publicKey: Uint8Array): string {
  // RFC 7638 §3.3 requires the members in lexicographic order without spaces: canonical JSON.
  return encodeBase64Url(sha256(canonicalJson({ ...toJwk(publicKey) })));
}

function rawKey(input: PublicKeyInput): Uint8Array | undefined {
  if (input instanceof Uint8Array) return input;
  try {
    if (typeof input !== "string") return jwkBytes(input);
    const hex = HEX.exec(input)?.[1];
    return hex === undefined ? importPublicKeyPem(input) : decodeHex(hex);
  } catch {
    return undefined;
  }
}

function jwkBytes(jwk: Readonly<Record<string, unknown>>): Uint8Array | undefined {
  // A JWK with `d` is a private key passed by mistake; do not accept it silently.
  if (Object.hasOwn(jwk, "d")) return undefined;
  const { kty, crv, x } = jwk as { kty?: unknown; crv?: unknown; x?: unknown };
  return kty === "OKP" && crv === "Ed25519" && typeof x === "string"
    ? decodeBase64Url(x)
    : undefined;
}

function keyError(): CountersignError<"ERR_CAPABILITY_KEY"> {
  const expected = "ed25519:<64 hex>, PEM or JWK";
  return new CountersignError("ERR_CAPABILITY_KEY", `not an Ed25519 public key (${expected})`, {
    expected,
  });
}
