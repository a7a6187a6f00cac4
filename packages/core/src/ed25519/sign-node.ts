import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { assertLength, decodePem, encodeDer } from "./encoding.js";

/**
 * A private key that does not appear when printed or as JSON.
 *
 * Created by {@link generateKey} or {@link importPrivateKey}.
 */
export class Ed25519Key {
  readonly #privateKey: KeyObject;
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;

  /** @internal */
  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
    this.publicKey = new Uint8Array(spki.subarray(-32));
  }

  /** @internal */
  sign(message: Uint8Array): Uint8Array {
    return new Uint8Array(sign(null, message, this.#privateKey));
  }

  /** @internal */
  toPem(): string {
    return this.#privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  }
}

/** Signs messages with one key. */
export interface Signer {
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The Ed25519 signature (RFC 8032) of a message, 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

/** A new key from the operating system's random source. */
export function generateKey(): Ed25519Key {
  return new Ed25519Key(generateKeyPairSync("ed25519").privateKey);
}

/**
 * A key from its PEM form (unencrypted PKCS#8, RFC 8410) or its 32-byte seed (RFC 8032's private
 * key).
 *
 * @throws CountersignError `ERR_ED25519_PEM` or `ERR_ED25519_LENGTH`
 */
export function importPrivateKey(pemOrSeed: string | Uint8Array): Ed25519Key {
  const seed = typeof pemOrSeed === "string" ? decodePem("PRIVATE KEY", pemOrSeed) : pemOrSeed;
  assertLength("private key", seed);
  const der = Buffer.from(encodeDer("PRIVATE KEY", seed));
  return new Ed25519Key(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
}

/**
 * A signer for a key; it keeps the parsed key, since parsing PEM for each call costs ten
 * signatures.
 */
export function createSigner(key: Ed25519Key): Signer {
  return { publicKey: key.publicKey, sign: (message) => key.sign(message) };
}

/**
 * The PEM form (unencrypted PKCS#8) of a private key. Store it where only the signer can read it.
 */
export function exportPrivateKeyPem(key: Ed25519Key): string {
  return key.toPem();
}
