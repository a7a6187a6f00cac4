import { decodeBase64, encodeBase64 } from "../bytes/base64.js";
import { concatBytes, equalBytes } from "../bytes/bytes.js";
import { decodeHex } from "../bytes/hex.js";
import { CountersignError } from "../errors/error.js";

/** The label of a PEM text. */
export type PemLabel = "PUBLIC KEY" | "PRIVATE KEY";

// RFC 8410: the DER around an Ed25519 key is constant, so a prefix is enough.
const DER_PREFIX: Readonly<Record<PemLabel, Uint8Array>> = {
  "PUBLIC KEY": /* @__PURE__ */ decodeHex("302a300506032b6570032100"),
  "PRIVATE KEY": /* @__PURE__ */ decodeHex("302e020100300506032b657004220420"),
};

const KEY_BYTES = 32;

/** The 32 raw bytes in their DER wrapping (SPKI for public keys, PKCS#8 for private ones). */
export function encodeDer(label: PemLabel, raw: Uint8Array): Uint8Array {
  return concatBytes(DER_PREFIX[label], raw);
}

/** The 32 raw bytes as PEM. */
export function encodePem(label: PemLabel, raw: Uint8Array): string {
  // 60 and 64 base64 characters: one PEM line in either case.
  return `-----BEGIN ${label}-----\n${encodeBase64(encodeDer(label, raw))}\n-----END ${label}-----\n`;
}

/** The 32 raw bytes of a PEM text. */
export function decodePem(label: PemLabel, pem: string): Uint8Array {
  const begin = `-----BEGIN ${label}-----`;
  const end = `-----END ${label}-----`;
  const text = pem.trim();
  if (text.length > 1024 || !text.startsWith(begin) || !text.endsWith(end)) throw pemError(label);
  let der: Uint8Array;
  try {
    der = decodeBase64(text.slice(begin.length, -end.length).replace(/[\r\n\t ]+/g, ""));
  } catch {
    // The cause contains an offset inside a key: it is not passed on.
    throw pemError(label);
  }
  const prefix = DER_PREFIX[label];
  if (
    der.length !== prefix.length + KEY_BYTES ||
    !equalBytes(der.subarray(0, prefix.length), prefix)
  ) {
    throw pemError(label);
  }
  return der.slice(prefix.length);
}

/** Throws `ERR_ED25519_LENGTH` unless the bytes have the required length. */
export function assertLength(
  what: "public key" | "private key" | "signature",
  bytes: Uint8Array,
): void {
  const expected = what === "signature" ? 2 * KEY_BYTES : KEY_BYTES;
  if (bytes.length === expected) return;
  throw new CountersignError(
    "ERR_ED25519_LENGTH",
    `an Ed25519 ${what} has ${expected} bytes, not ${bytes.length}`,
    { what, expected, actual: bytes.length },
  );
}

function pemError(expected: PemLabel): CountersignError {
  return new CountersignError("ERR_ED25519_PEM", `not the PEM form of an Ed25519 ${expected}`, {
    expected,
  });
}
