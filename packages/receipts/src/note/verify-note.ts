import { concatBytes, equalBytes } from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import type { Note, NoteSignature } from "./note.js";
import { noteMessage, parseNote } from "./note.js";
import type { NoteKey } from "./vkey.js";
import { NOTE_COSIGNATURE, NOTE_ED25519 } from "./vkey.js";
import { formatError } from "../receipt/errors.js";

/** Checks one Ed25519 signature; may be asynchronous, as WebCrypto is. */
export type SignatureVerifier = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

/** A note with at least one valid signature of a known key. */
export type VerifiedNote = Note & { readonly signers: readonly NoteKey[] };

const TIME_BYTES = 8;

async function holds(
  note: Note,
  key: NoteKey,
  line: NoteSignature,
  verify: SignatureVerifier,
): Promise<boolean> {
  if (key.type === NOTE_ED25519) {
    if (line.signature.length !== 64) return false;
    return verify(key.publicKey, noteMessage(note), line.signature);
  }
  if (key.type !== NOTE_COSIGNATURE || line.signature.length !== TIME_BYTES + 64) return false;
  const time = new DataView(line.signature.buffer, line.signature.byteOffset).getBigUint64(0);
  const message = concatBytes(utf8(`cosignature/v1\ntime ${time}\n`), noteMessage(note));
  return verify(key.publicKey, message, line.signature.subarray(TIME_BYTES));
}

/**
 * Opens a note with the keys that the verifier knows. Lines of unknown keys are ignored; one bad
 * signature of a known key invalidates the note (C2SP signed-note).
 */
export async function verifyNote(
  text: string,
  keys: readonly NoteKey[],
  verify: SignatureVerifier,
): Promise<VerifiedNote> {
  const note = parseNote(text);
  const signers = new Set<NoteKey>();
  for (const line of note.signatures) {
    for (const key of keys) {
      if (key.name !== line.name || !equalBytes(key.id, line.keyId)) continue;
      if (!(await holds(note, key, line, verify))) {
        throw formatError("ERR_NOTE_UNVERIFIED", "a known key's signature is wrong", {
          reason: "bad-signature",
        });
      }
      signers.add(key);
    }
  }
  if (signers.size === 0) {
    throw formatError("ERR_NOTE_UNVERIFIED", "no signature is by a known key", {
      reason: "unknown-key",
    });
  }
  return { ...note, signers: [...signers] };
}
