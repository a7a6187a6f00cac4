import { equalBytes } from "@countersign/core";
import { COSIGNATURE_TIME_BYTES, cosignatureMessage, cosignatureTime } from "./cosignature.js";
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

/** A valid cosignature of a witness. */
export type Cosignature = {
  readonly key: NoteKey;
  /** When the witness signed, in POSIX seconds. */
  readonly time: bigint;
  readonly line: NoteSignature;
};

/** A note with at least one valid signature of a known key. */
export type VerifiedNote = Note & {
  readonly signers: readonly NoteKey[];
  /** The signatures of witnesses among them. */
  readonly cosignatures: readonly Cosignature[];
};

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
  const time = cosignatureTime(line);
  if (key.type !== NOTE_COSIGNATURE || time === undefined) return false;
  const signature = line.signature.subarray(COSIGNATURE_TIME_BYTES);
  if (signature.length !== 64) return false;
  return verify(key.publicKey, cosignatureMessage(time, note.text), signature);
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
  const cosignatures: Cosignature[] = [];
  for (const line of note.signatures) {
    for (const key of keys) {
      if (key.name !== line.name || !equalBytes(key.id, line.keyId)) continue;
      if (!(await holds(note, key, line, verify))) {
        throw formatError("ERR_NOTE_UNVERIFIED", "a known key's signature is wrong", {
          reason: "bad-signature",
        });
      }
      signers.add(key);
      const time = key.type === NOTE_COSIGNATURE ? cosignatureTime(line) : undefined;
      if (time !== undefined) cosignatures.push({ key, time, line });
    }
  }
  if (signers.size === 0) {
    throw formatError("ERR_NOTE_UNVERIFIED", "no signature is by a known key", {
      reason: "unknown-key",
    });
  }
  return { ...note, signers: [...signers], cosignatures };
}

/** Clocks of witnesses may be ahead by this many seconds. */
const MAX_CLOCK_SKEW_S = 300;

/** Whether a cosignature has a time that the clock of the reader did not reach yet. */
export function isFuture({ time }: Pick<Cosignature, "time">, now: number): boolean {
  return time > BigInt(Math.floor(now / 1000) + MAX_CLOCK_SKEW_S);
}
