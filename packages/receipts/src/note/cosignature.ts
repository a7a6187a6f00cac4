import { concatBytes } from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import type { NoteSignature } from "./note.js";
import { isNoteText } from "./note.js";
import type { MessageSigner } from "./sign-note.js";
import { createNoteKey, NOTE_COSIGNATURE } from "./vkey.js";

/** Bytes of the time before the Ed25519 signature of a cosignature. */
export const COSIGNATURE_TIME_BYTES = 8;
/** The specification allows times up to 2^63 - 1. */
const MAX_TIME = 2n ** 63n - 1n;

/** The bytes that an Ed25519 cosignature covers (C2SP tlog-cosignature, `cosignature/v1`). */
export function cosignatureMessage(time: bigint, text: string): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/** The time of a cosignature in POSIX seconds; `undefined` when it is out of the allowed range. */
export function cosignatureTime({
  signature,
}: Pick<NoteSignature, "signature">): bigint | undefined {
  if (signature.length < COSIGNATURE_TIME_BYTES) return undefined;
  const time = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  return time > MAX_TIME ? undefined : time;
}

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
