import { concatBytes } from "@countersign/core";
import { COSIGNATURE_TIME_BYTES, cosignatureMessage } from "./cosignature.js";
import type { NoteSignature } from "./note.js";
import { isNoteText } from "./note.js";
import type { MessageSigner } from "./sign-note.js";
import { createNoteKey, NOTE_COSIGNATURE } from "./vkey.js";

/** Signs the text of a checkpoint as a witness, at a time in POSIX seconds. */
export async function signCosignature(
  name: string,
  text: string,
  time: number,
  signer: MessageSigner,
): Promise<NoteSignature> {
  const key = createNoteKey(name, signer.publicKey, NOTE_COSIGNATURE);
  if (!isNoteText(text)) throw new TypeError("a checkpoint text ends in a line feed");
  if (!Number.isSafeInteger(time) || time < 0) throw new TypeError("a time is not negative");
  const prefix = new Uint8Array(COSIGNATURE_TIME_BYTES);
  new DataView(prefix.buffer).setBigUint64(0, BigInt(time));
  const signature = await signer.sign(cosignatureMessage(BigInt(time), text));
  if (signature.length !== 64) throw new TypeError("an Ed25519 signature is 64 bytes");
  return { name, keyId: key.id, signature: concatBytes(prefix, signature) };
}
