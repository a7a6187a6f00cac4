import { hashBytes } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import {
  BATCH_PREFIX,
  batchRootMessage,
  PATH_HASH_CHARACTERS,
} from "../receipt/batch-signature.js";
import type { SignInto } from "./group.js";
import type { ScratchBuffer } from "./scratch-buffer.js";

/**
 * Receipts per root signature. Each doubling adds 43 characters of path to every receipt and halves
 * the remaining signing cost. At 32 that cost is below 1 µs per receipt, and the disk, not the
 * processor, limits a log (docs/decisions/2026-11-15-receipt-log-files.md).
 */
export const RECEIPTS_PER_ROOT = 32;

const SIGNATURE_BYTES = 64;
// A hash followed by a zero byte is 44 characters of base64url; the first 43 belong to the hash. So
// one call encodes many hashes, at a tenth of the cost of a call per hash.
const ENCODED_BYTES = 33;
const ENCODED_CHARACTERS = 44;
// A batch has fewer than twice as many nodes as receipts.
const HASHES_BYTES = 2 * RECEIPTS_PER_ROOT * ENCODED_BYTES;
const TEXTS_BYTES = 2 * RECEIPTS_PER_ROOT * ENCODED_CHARACTERS;
const SHARED_BYTES = "/32:".length + 2 * SIGNATURE_BYTES + ":".length;

/** Bytes of a buffer that a batch uses. */
export const BATCH_BYTES: number = HASHES_BYTES + TEXTS_BYTES + SHARED_BYTES + BATCH_PREFIX.length;

const digitsOf = (count: number): number => (count < 10 ? 1 : 2);

/** Length of the signature at an index of a batch. */
export function batchSignatureLength(place: number, size: number): number {
  let hashes = 0;
  let at = place;
  for (let width = size; width > 1; width = (width + 1) >> 1) {
    // The last node of an odd level has no sibling: it moves up unchanged.
    if ((at ^ 1) < width) hashes += 1;
    at >>= 1;
  }
  const shared = "/:".length + digitsOf(size) + 2 * SIGNATURE_BYTES + ":".length;
  return BATCH_PREFIX.length + digitsOf(place) + shared + hashes * PATH_HASH_CHARACTERS;
}

/**
 * The signatures of `buildBatch`, written directly into their entries at a fifth of its cost, which
 * determines the throughput of the log. A test compares the two.
 */
export class BatchSignatures {
  readonly #buffer: ScratchBuffer;
  readonly #hashesAt: number;
  readonly #textsAt: number;
  readonly #sharedAt: number;
  readonly #prefixAt: number;
  #sharedLength = 0;
  #size = 0;

  /** Uses `BATCH_BYTES` bytes from `at` on. */
  constructor(buffer: ScratchBuffer, at: number) {
    this.#buffer = buffer;
    this.#hashesAt = at;
    this.#textsAt = at + HASHES_BYTES;
    this.#sharedAt = this.#textsAt + TEXTS_BYTES;
    this.#prefixAt = this.#sharedAt + SHARED_BYTES;
    buffer.write(BATCH_PREFIX, this.#prefixAt);
  }

  /** Builds the tree over leaf hashes and signs its root. */
  sign(leaves: readonly Latin1Hash[], sign: SignInto): void {
    const buffer = this.#buffer;
    let from = this.#hashesAt;
    let level = leaves;
    while (level.length > 1) {
      const end = buffer.write(level.join("\0"), from);
      buffer.bytes[end] = 0;
      const above: Latin1Hash[] = [];
      for (let index = 0; index < level.length; index += 2) {
        const left = from + index * ENCODED_BYTES;
        const isLast = index + 1 === level.length;
        above.push(
          isLast ? (level[index] as Latin1Hash) : buffer.nodeHash(left, left + ENCODED_BYTES),
        );
      }
      from = end + 1;
      level = above;
    }
    buffer.write(buffer.bytes.toString("base64url", this.#hashesAt, from), this.#textsAt);
    const signature = Buffer.alloc(SIGNATURE_BYTES);
    sign(signature, batchRootMessage(leaves.length, hashBytes(level[0] as Latin1Hash)));
    this.#size = leaves.length;
    const shared = `/${leaves.length}:${signature.toString("hex")}:`;
    this.#sharedLength = buffer.write(shared, this.#sharedAt) - this.#sharedAt;
  }

  /** Writes the signature of the receipt at an index of the batch. */
  write(place: number, to: number): void {
    const buffer = this.#buffer;
    let end = buffer.copy(this.#prefixAt, to, BATCH_PREFIX.length);
    end = buffer.writeCount(place, digitsOf(place), end);
    end = buffer.copy(this.#sharedAt, end, this.#sharedLength);
    let texts = this.#textsAt;
    let at = place;
    for (let width = this.#size; width > 1; width = (width + 1) >> 1) {
      const sibling = at ^ 1;
      if (sibling < width) {
        end = buffer.copy(texts + sibling * ENCODED_CHARACTERS, end, PATH_HASH_CHARACTERS);
      }
      texts += width * ENCODED_CHARACTERS;
      at >>= 1;
    }
  }
}
