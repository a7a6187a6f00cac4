import type { MessageSigner } from "../note/sign-note.js";
import { signNote } from "../note/sign-note.js";
import type { Checkpoint } from "./checkpoint.js";
import { encodeCheckpoint } from "./checkpoint.js";

/** Signs a checkpoint as a note; the key name is the origin. */
export async function signCheckpoint(
  checkpoint: Checkpoint,
  signer: MessageSigner,
): Promise<string> {
  return signNote(checkpoint.origin, encodeCheckpoint(checkpoint), signer);
}
