import { decodeBase64Url } from "../bytes/base64.js";
import { assertLength, decodePem, encodeDer, encodePem } from "./encoding.js";
import { asSource, subtle, supported } from "./webcrypto.js";
import type { WebCryptoKey } from "./webcrypto.js";

/** A private key held by WebCrypto, with its raw public key. */
export class Ed25519Key {
  readonly #privateKey: WebCryptoKey;
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;

  /** @internal */
  constructor(privateKey: WebCryptoKey, publicKey: Uint8Array) {
    this.#privateKey = privateKey;
    this.publicKey = publicKey;
  }

  /** @internal */
  async sign(message: Uint8Array): Promise<Uint8Array> {
    return new Uint8Array(await subtle().sign("Ed25519", this.#privateKey, asSource(message)));
  }

  /** @internal */
  async toPem(): Promise<string> {
    const pkcs8 = new Uint8Array(await subtle().exportKey("pkcs8", this.#privateKey));
    return encodePem("PRIVATE KEY", pkcs8.subarray(-32));
  }
}

/** Signs messages with one key. WebCrypto is asynchronous, so this signer is. */
export interface Signer {
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The Ed25519 signature (RFC 8032) of a message, 64 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** A new key from the runtime's random source. */
export async function generateKey(): Promise<Ed25519Key> {
  const pair = await supported(subtle().generateKey("Ed25519", true, ["sign", "verify"]));
  if (!("privateKey" in pair)) throw new TypeError("WebCrypto made no key pair");
  return new Ed25519Key(
    pair.privateKey,
    new Uint8Array(await subtle().exportKey("raw", pair.publicKey)),
  );
}

/**
 * A key from its PEM form (unencrypted PKCS#8, RFC 8410) or its 32-byte seed.
 *
 * @throws CountersignError `ERR_ED25519_PEM` or `ERR_ED25519_LENGTH`
 */
export async function importPrivateKey(pemOrSeed: string | Uint8Array): Promise<Ed25519Key> {
  const seed = typeof pemOrSeed === "string" ? decodePem("PRIVATE KEY", pemOrSeed) : pemOrSeed;
  assertLength("private key", seed);
  const der = asSource(encodeDer("PRIVATE KEY", seed));
  const key = await supported(subtle().importKey("pkcs8", der, "Ed25519", true, ["sign"]));
  // WebCrypto derives the public key only when it exports a JWK.
  const { x = "" } = await subtle().exportKey("jwk", key);
  return new Ed25519Key(key, decodeBase64Url(x));
}

/** A signer over a key. */
export function createSigner(key: Ed25519Key): Signer {
  return { publicKey: key.publicKey, sign: (message) => key.sign(message) };
}

/** The PEM form (unencrypted PKCS#8) of a private key. */
export function exportPrivateKeyPem(key: Ed25519Key): Promise<string> {
  return key.toPem();
}
