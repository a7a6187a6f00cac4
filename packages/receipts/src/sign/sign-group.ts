import { batchSignatures } from "./batch-signatures.js";
import type { SignedGroup, SignInto, SignRequest } from "./group.js";

const LINE_FEED = 0x0a;
const LINES = 5;
const OPENING = Buffer.from(',"signature":"');
const EACH_PREFIX = "ed25519:";
const SIGNATURE_BYTES = 64;

function findLines(text: Buffer, count: number): Uint32Array {
  const ends = new Uint32Array(count * LINES);
  let at = 0;
  for (let line = 0; line < ends.length; line += 1) {
    const end = text.indexOf(LINE_FEED, at);
    if (end === -1) throw new TypeError("a group has five lines for each draft");
    ends[line] = end;
    at = end + 1;
  }
  if (at !== text.length) throw new TypeError("a group has five lines for each draft");
  return ends;
}

/** Signs a group and weaves the signatures in: the work of a signing thread, free of I/O. */
export function signGroup(request: SignRequest, sign: SignInto): SignedGroup {
  const { count } = request;
  const { lines } = request;
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  const ends = findLines(text, count);
  const bodies = Buffer.allocUnsafe(text.length);
  const bodyStarts = new Uint32Array(count);
  const bodyEnds = new Uint32Array(count);
  let filled = 0;
  for (let index = 0; index < count; index += 1) {
    const first = index * LINES;
    const head = (ends[first] as number) + 1;
    const headEnd = ends[first + 1] as number;
    // The leaf prefix of RFC 6962, for batches.
    bodies[filled] = 0;
    filled += 1;
    bodyStarts[index] = filled;
    filled += text.copy(bodies, filled, head, headEnd);
    filled += text.copy(bodies, filled, headEnd + 1, ends[first + 2] as number);
    bodyEnds[index] = filled;
  }
  const body = (index: number): Uint8Array =>
    bodies.subarray(bodyStarts[index] as number, bodyEnds[index]);
  const leafInput = (index: number): Uint8Array =>
    bodies.subarray((bodyStarts[index] as number) - 1, bodyEnds[index]);

  const signature = Buffer.allocUnsafe(SIGNATURE_BYTES);
  const batched =
    request.mode === "batch" ? batchSignatures(count, request.singles, leafInput, sign) : undefined;
  let room = text.length + count * (OPENING.length + 1);
  if (batched === undefined) room += count * (EACH_PREFIX.length + 2 * SIGNATURE_BYTES);
  else for (const one of batched) room += one?.length ?? EACH_PREFIX.length + 2 * SIGNATURE_BYTES;

  // Its own ArrayBuffer, not a slice of Node's pool, so that a worker can hand it over without a copy.
  const out = Buffer.allocUnsafeSlow(room);
  const cuts = new Uint32Array(count * 2);
  let at = 0;
  let lineStart = 0;
  for (let index = 0; index < count; index += 1) {
    const first = index * LINES;
    const prefixEnd = ends[first] as number;
    const headEnd = ends[first + 1] as number;
    at += text.copy(out, at, lineStart, prefixEnd);
    at += text.copy(out, at, prefixEnd + 1, headEnd);
    at += OPENING.copy(out, at);
    const ready = batched?.[index];
    if (ready === undefined) {
      sign(signature, body(index));
      at += out.write(EACH_PREFIX, at, "latin1");
      at += out.write(signature.toString("hex"), at, "latin1");
    } else {
      at += out.write(ready, at, "latin1");
    }
    out[at] = 0x22;
    at += 1;
    const tailEnd = ends[first + 2] as number;
    at += text.copy(out, at, headEnd + 1, tailEnd);
    at += text.copy(out, at, tailEnd + 1, ends[first + 3]);
    cuts[index * 2] = at;
    at += text.copy(out, at, (ends[first + 3] as number) + 1, ends[first + 4]);
    cuts[index * 2 + 1] = at;
    lineStart = (ends[first + 4] as number) + 1;
  }
  return { bytes: out.subarray(0, at), cuts };
}
