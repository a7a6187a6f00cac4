import { encodeHex, sha256 } from "@countersign/core";
import type { CborMap, CborValue } from "./cbor.js";
import { decodeCbor, encodeCbor, malformed } from "./cbor.js";
import { EDDSA, mapOf } from "./sign1.js";

/** Labels of a COSE_Key (RFC 9052 section 7.1, RFC 9053 section 7.2). */
const KEY = { type: 1, id: 2, algorithm: 3, curve: -1, x: -2 } as const;
const OCTET_KEY_PAIR = 1;
const ED25519 = 6;
const KEY_BYTES = 32;
/** A log rotates its keys a few times a year; the key history has the same limit. */
const MAX_KEYS = 10_001;
const MAX_KEY_SET_BYTES = 4 * 1024 * 1024;

/** The thumbprint of an Ed25519 public key (RFC 9679, SHA-256): the key id of everything it signs. */
export function keyThumbprint(publicKey: Uint8Array): Uint8Array {
  return sha256(encodeCbor(keyMap(publicKey)));
}

/** The thumbprint as a text, for maps and messages. */
export function keyThumbprintHex(publicKey: Uint8Array): string {
  return encodeHex(keyThumbprint(publicKey));
}

function keyMap(publicKey: Uint8Array): CborMap {
  if (publicKey.length !== KEY_BYTES) throw new TypeError("an Ed25519 public key is 32 bytes");
  return new Map<number, CborValue>([
    [KEY.type, OCTET_KEY_PAIR],
    [KEY.curve, ED25519],
    [KEY.x, publicKey],
  ]);
}

/** Encodes public keys as a COSE_KeySet. */
export function encodeKeySet(publicKeys: readonly Uint8Array[]): Uint8Array {
  return encodeCbor(
    publicKeys.map((publicKey) =>
      keyMap(publicKey).set(KEY.id, keyThumbprint(publicKey)).set(KEY.algorithm, EDDSA),
    ),
  );
}

/** Reads the public keys of a COSE_KeySet; each key must be Ed25519 and carry its own thumbprint. */
export function decodeKeySet(bytes: Uint8Array): Uint8Array[] {
  const part = "the key set";
  const set = decodeCbor(part, bytes, MAX_KEY_SET_BYTES);
  if (!Array.isArray(set) || set.length > MAX_KEYS) throw malformed(part, "not a list of keys");
  const keys = set.map((item) => {
    const x = mapOf(part, item).get(KEY.x);
    if (!(x instanceof Uint8Array) || x.length !== KEY_BYTES) throw malformed(part, "no key");
    return x;
  });
  const written = encodeHex(encodeKeySet(keys));
  if (written !== encodeHex(bytes))
    throw malformed(part, "a key is not an Ed25519 key with its id");
  return keys;
}
