import { hash } from "node:crypto";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import {
  BATCH_BYTES,
  BatchSignatures,
  batchSignatureLength,
  RECEIPTS_PER_ROOT,
} from "./batch-signatures.js";
import { DraftReader } from "./draft-reader.js";
import { EntryWriter } from "./entry-writer.js";
import type { GroupKey, SignedGroup, SignRequest } from "./group.js";
import { SCRATCH_START, threadBuffer } from "./scratch-buffer.js";

const SIGNATURE_BYTES = 64;
const EACH_PREFIX = "ed25519:";
const SINGLE_LENGTH = EACH_PREFIX.length + 2 * SIGNATURE_BYTES;
// A UTF-16 code unit takes at most three bytes.
const CHARACTER_BYTES = 3;

/**
 * Signs a group and writes its entries and hashes: the work of a signing thread, free of I/O. One
 * pass writes everything except batch signatures, of which only the length is known until all
 * receipts of the batch are written.
 */
export function signGroup(request: SignRequest, key: GroupKey): SignedGroup {
  const { count, first, mode, rows } = request;
  const payloads = request.payloads === "" ? [] : request.payloads.split("\n");
  const buffer = threadBuffer();
  const rowsAt = SCRATCH_START + BATCH_BYTES;
  buffer.ensureCapacity(rowsAt + rows.length * CHARACTER_BYTES);
  const rowsEnd = rowsAt + buffer.bytes.write(rows, rowsAt, "utf8");
  const reader = new DraftReader(rowsAt, rowsEnd);
  const writer = new EntryWriter(buffer, rowsEnd, request, key.kernelKey);

  const singles = mode === "each" ? [] : request.singles;
  const members = mode === "each" ? 0 : count - singles.length;
  const leaves: Latin1Hash[] = [];
  const signatures: number[] = [];
  let payload = 0;
  let single = 0;
  for (let index = 0; index < count; index += 1) {
    reader.next(buffer.bytes);
    const payloadHash =
      reader.hashAt === -1 ? hash("sha256", payloads[payload++] ?? "", "hex") : undefined;
    writer.begin(reader, payloadHash);
    const member = leaves.length;
    // A batch of one would only be a longer signature.
    const size = Math.min(RECEIPTS_PER_ROOT, members - (member - (member % RECEIPTS_PER_ROOT)));
    const isSingle = singles[single] === index;
    if (isSingle) single += 1;
    if (isSingle || size < 2) {
      const signature = Buffer.allocUnsafe(SIGNATURE_BYTES);
      key.sign(signature, writer.body());
      const at = writer.end(reader, SINGLE_LENGTH);
      buffer.write(EACH_PREFIX + signature.toString("hex"), at);
    } else {
      leaves.push(writer.bodyHash());
      const place = member % RECEIPTS_PER_ROOT;
      signatures.push(writer.end(reader, batchSignatureLength(place, size)));
    }
  }
  if (!reader.isAtEnd) throw new TypeError("a group is not what its count says");

  const batch = new BatchSignatures(buffer, SCRATCH_START);
  for (let start = 0; start < leaves.length; start += RECEIPTS_PER_ROOT) {
    const end = Math.min(start + RECEIPTS_PER_ROOT, leaves.length);
    batch.sign(leaves.slice(start, end), key.sign);
    for (let at = start; at < end; at += 1) batch.write(at - start, signatures[at] as number);
  }
  return writer.take(first);
}
