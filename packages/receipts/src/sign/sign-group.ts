import { batchSignatures, MAX_BATCH_TEXT } from "./batch-signatures.js";
import type { SignedGroup, SignInto, SignRequest } from "./group.js";

const LINE_FEED = 0x0a;
const LINES = 5;
const QUOTE = 0x22;
const OPENING = ',"signature":"';
const EACH_PREFIX = "ed25519:";
const SIGNATURE_BYTES = 64;
const EACH_LENGTH = EACH_PREFIX.length + 2 * SIGNATURE_BYTES;

function findLines(text: Buffer, start: number, count: number): Uint32Array {
  const ends = new Uint32Array(count * LINES);
  let at = start;
  for (let line = 0; line < ends.length; line += 1) {
    const end = text.indexOf(LINE_FEED, at);
    if (end === -1) throw new TypeError("a group has five lines for each draft");
    ends[line] = end;
    at = end + 1;
  }
  if (at !== text.length) throw new TypeError("a group has five lines for each draft");
  return ends;
}

/**
 * Signs a group and weaves the signatures in: the work of a signing thread, free of I/O. The lines are
 * set down at the end of the result and moved to its front piece by piece, which makes neither views nor
 * copies for the garbage collector; what is written never reaches what is still to be read.
 */
export function signGroup(request: SignRequest, sign: SignInto): SignedGroup {
  const { count, lines, mode } = request;
  const isBatch = mode === "batch";
  const longest = isBatch ? Math.max(EACH_LENGTH, MAX_BATCH_TEXT) : EACH_LENGTH;
  const base = count * (OPENING.length + longest + 1);
  // Its own ArrayBuffer, not a slice of Node's pool, so that a worker can hand it over without a copy.
  const out = Buffer.allocUnsafeSlow(base + lines.length);
  out.set(lines, base);
  const ends = findLines(out, base, count);

  // Lines 2 and 3 are what is signed: moving line 2 over its line feed joins them, and leaves a byte
  // before them for the leaf prefix of RFC 6962.
  for (let line = 0; line < ends.length; line += LINES) {
    const head = (ends[line] as number) + 1;
    out.copyWithin(head + 1, head, ends[line + 1]);
    out[head] = 0;
  }
  const body = (index: number, prefixed: boolean): Uint8Array => {
    const start = (ends[index * LINES] as number) + (prefixed ? 1 : 2);
    return out.subarray(start, ends[index * LINES + 2]);
  };
  const batched = isBatch
    ? batchSignatures(count, request.singles, (index) => body(index, true), sign)
    : undefined;

  const signature = Buffer.allocUnsafe(SIGNATURE_BYTES);
  const cuts = new Uint32Array(count * 2);
  let at = 0;
  const move = (start: number, end: number): void => {
    out.copyWithin(at, start, end);
    at += end - start;
  };
  let from = base;
  for (let index = 0; index < count; index += 1) {
    const line = index * LINES;
    const prefixEnd = ends[line] as number;
    const headEnd = (ends[line + 1] as number) + 1;
    const tailEnd = ends[line + 2] as number;
    const beforeSeq = ends[line + 3] as number;
    const end = ends[line + 4] as number;
    const ready = batched?.[index];
    // Before its lines are moved, since they may be moved onto themselves.
    if (ready === undefined) sign(signature, body(index, false));
    else if (ready.length > MAX_BATCH_TEXT) throw new TypeError("a batch signature is too long");
    move(from, prefixEnd);
    move(prefixEnd + 2, headEnd);
    at += out.write(OPENING, at, "latin1");
    at += out.write(ready ?? `${EACH_PREFIX}${signature.toString("hex")}`, at, "latin1");
    out[at] = QUOTE;
    at += 1;
    move(headEnd, tailEnd);
    move(tailEnd + 1, beforeSeq);
    cuts[index * 2] = at;
    move(beforeSeq + 1, end);
    cuts[index * 2 + 1] = at;
    from = end + 1;
  }
  return { bytes: out.subarray(0, at), cuts };
}
