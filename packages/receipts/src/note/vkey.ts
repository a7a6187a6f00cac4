import type { CountersignError } from "@countersign/core";
import {
  concatBytes,
  decodeBase64,
  encodeBase64,
  encodeHex,
  equalBytes,
  sha256,
} from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import { formatError } from "../receipt/errors.js";

/** Type byte of a plain Ed25519 note signature. */
export const NOTE_ED25519 = 0x01;
/** Type byte of a witness's timestamped Ed25519 cosignature of a checkpoint. */
export const NOTE_COSIGNATURE = 0x04;

/** A key that verifies notes: name, type byte and public key, with the id derived from them. */
export type NoteKey = {
  readonly name: string;
  readonly type: number;
  readonly publicKey: Uint8Array;
  /** First four bytes of SHA-256(name || LF || type || public key). */
  readonly id: Uint8Array;
};

const MAX_NAME_LENGTH = 1024;
const FORBIDDEN_IN_NAME = /[\p{White_Space}\p{Cc}+\p{Surrogate}]/u;

/** Whether a key name can stand in a signature line and in a vkey. */
export function isNoteName(name: string): boolean {
  return name.length > 0 && name.length <= MAX_NAME_LENGTH && !FORBIDDEN_IN_NAME.test(name);
}

/** The four-byte key id of the C2SP signed-note specification. */
export function noteKeyId(name: string, type: number, publicKey: Uint8Array): Uint8Array {
  return sha256(concatBytes(utf8(`${name}\n`), Uint8Array.of(type), publicKey)).slice(0, 4);
}

/** Makes a note key from its parts. */
export function createNoteKey(
  name: string,
  publicKey: Uint8Array,
  type: number = NOTE_ED25519,
): NoteKey {
  if (!isNoteName(name)) throw new TypeError("a note key name has no spaces and no plus sign");
  if (publicKey.length !== 32) throw new TypeError("an Ed25519 public key is 32 bytes");
  return { name, type, publicKey, id: noteKeyId(name, type, publicKey) };
}

/** `<name>+<key id>+<base64(type || public key)>`. */
export function encodeVkey(key: NoteKey): string {
  const material = concatBytes(Uint8Array.of(key.type), key.publicKey);
  return `${key.name}+${encodeHex(key.id)}+${encodeBase64(material)}`;
}

function unusable(reason: string): CountersignError {
  return formatError("ERR_NOTE_KEY", `unusable vkey: ${reason}`, { reason });
}

/** Parses a vkey line and checks that its id matches its key. */
export function parseVkey(text: string): NoteKey {
  // The base64 part may contain plus signs: only the first two separate.
  const match = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text.trim());
  if (match === null) throw unusable("not name+id+key");
  const [, name = "", id = "", encoded = ""] = match;
  if (!isNoteName(name)) throw unusable("name");
  let material: Uint8Array;
  try {
    material = decodeBase64(encoded);
  } catch (cause) {
    throw formatError("ERR_NOTE_KEY", "unusable vkey: base64", { reason: "base64" }, cause);
  }
  const type = material[0] ?? 0;
  if (type !== NOTE_ED25519 && type !== NOTE_COSIGNATURE) throw unusable("algorithm");
  if (material.length !== 33) throw unusable("key length");
  const key = createNoteKey(name, material.slice(1), type);
  if (encodeHex(key.id) !== id) throw unusable("key id does not belong to the key");
  return key;
}

/** Whether two keys have the same name, algorithm and public key. */
export function sameNoteKey(left: NoteKey, right: NoteKey): boolean {
  return (
    left.name === right.name &&
    left.type === right.type &&
    equalBytes(left.publicKey, right.publicKey)
  );
}
