import type { SignatureVerifier, VerifiedNote } from "../note/verify-note.js";
import { verifyNote } from "../note/verify-note.js";
import type { NoteKey } from "../note/vkey.js";
import { NOTE_COSIGNATURE } from "../note/vkey.js";
import type { Checkpoint } from "./checkpoint.js";
import { parseCheckpoint } from "./checkpoint.js";
import { formatError } from "../receipt/errors.js";

/** Whether a key signs for a log. A witness could have the name of the log. */
export function isLogKey(key: NoteKey, { origin }: Pick<Checkpoint, "origin">): boolean {
  return key.name === origin && key.type !== NOTE_COSIGNATURE;
}

/** A checkpoint signed by the log's own key, and which of the known keys signed it. */
export type OpenedCheckpoint = Checkpoint & { readonly note: VerifiedNote };

/**
 * Opens a signed checkpoint. A witness signature alone is not enough: the name of one signer must
 * be the origin.
 */
export async function openCheckpoint(
  text: string,
  keys: readonly NoteKey[],
  verify: SignatureVerifier,
): Promise<OpenedCheckpoint> {
  const note = await verifyNote(text, keys, verify);
  const checkpoint = parseCheckpoint(note.text);
  if (!note.signers.some((key) => isLogKey(key, checkpoint))) {
    throw formatError("ERR_NOTE_UNVERIFIED", "no known key of that origin signed", {
      reason: "unknown-key",
    });
  }
  return { ...checkpoint, note };
}
