import { utf8 } from "../receipt/canonical-text.js";
import type { NoteSignature } from "./note.js";

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
