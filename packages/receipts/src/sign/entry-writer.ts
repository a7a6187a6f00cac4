import type { Latin1Hash } from "../merkle/latin1-hash.js";
import type { DraftReader } from "./draft-reader.js";
import { HASH_DIGITS, PART } from "./group.js";
import type { SignedGroup, SignRequest } from "./group.js";
import { LENGTH_BYTES, sealGroup, writeLength } from "./records.js";
import type { ScratchBuffer } from "./scratch-buffer.js";

const SIGNATURE = ',"signature":"';
// Upper bound of the names, key, hash and numbers around the parts, and the longest signature.
const OTHER_BYTES = 1_500;

/** Builds entries, one after the other, from parts in the same buffer. */
export class EntryWriter {
  readonly #buffer: ScratchBuffer;
  readonly #keyAt: number;
  readonly #keyLength: number;
  readonly #recordsAt: number;
  readonly #places: Uint32Array;
  #seq: number;
  #digits: number;
  /** The first sequence number with one digit more. */
  #longer: number;
  #count = 0;
  #start: number;
  #bodyAt = 0;
  #signatureAt = 0;
  #bodyEnd = 0;

  /** Uses the buffer from `at` on. */
  constructor(buffer: ScratchBuffer, at: number, { count, first }: SignRequest, kernelKey: string) {
    const key = `","kernel_key":"${kernelKey}","payload_hash":"`;
    buffer.ensureCapacity(at + key.length + SIGNATURE.length);
    this.#buffer = buffer;
    this.#keyAt = at;
    this.#keyLength = key.length;
    this.#recordsAt = buffer.write(key + SIGNATURE, at);
    this.#start = this.#recordsAt;
    this.#places = new Uint32Array(count * 2);
    this.#seq = first;
    this.#digits = String(first).length;
    this.#longer = 10 ** this.#digits;
  }

  /** Writes an entry up to its signature, and after that the rest of the signed text. */
  begin(draft: DraftReader, payloadHash: string | undefined): void {
    const { idAt, idLength, lengths, starts } = draft;
    const buffer = this.#buffer;
    let room = OTHER_BYTES + 2 * idLength;
    for (const length of lengths) room += length;
    buffer.ensureCapacity(this.#start + room);
    this.#bodyAt = draft.copyPart(PART.entryHead, buffer, this.#start + LENGTH_BYTES);
    let at = draft.copyPart(PART.receiptHead, buffer, this.#bodyAt);
    at = buffer.copy(idAt, at, idLength);
    at = draft.copyPart(PART.eventType, buffer, at);
    at = buffer.copy(idAt, at, idLength);
    at = buffer.copy(this.#keyAt, at, this.#keyLength);
    at =
      payloadHash === undefined
        ? buffer.copy(draft.hashAt, at, HASH_DIGITS)
        : buffer.write(payloadHash, at);
    at = draft.copyPart(PART.session, buffer, at);
    this.#signatureAt = at;
    // Without the closing quote of the signature.
    this.#bodyEnd = buffer.copy(
      (starts[PART.receiptTail] as number) + 1,
      at,
      (lengths[PART.receiptTail] as number) - 1,
    );
  }

  /** The signed text; valid until `end`. */
  body(): Uint8Array {
    return this.#buffer.bytes.subarray(this.#bodyAt, this.#bodyEnd);
  }

  /** The hash of the signed text as a leaf of a batch. */
  bodyHash(): Latin1Hash {
    const { bytes } = this.#buffer;
    const before = bytes[this.#bodyAt - 1] as number;
    // The leaf prefix 0x00 temporarily replaces the byte before the receipt: no copy for hashing.
    bytes[this.#bodyAt - 1] = 0;
    const leaf = this.#buffer.hash(this.#bodyAt - 1, this.#bodyEnd);
    bytes[this.#bodyAt - 1] = before;
    return leaf;
  }

  /** Writes the entry after its signature and returns the position of the signature. */
  end(draft: DraftReader, signatureLength: number): number {
    const buffer = this.#buffer;
    const nameAt = this.#keyAt + this.#keyLength;
    const signatureAt = buffer.copy(nameAt, this.#signatureAt, SIGNATURE.length);
    let at = signatureAt + signatureLength;
    at = draft.copyPart(PART.receiptTail, buffer, at);
    const seqAt = draft.copyPart(PART.entryTail, buffer, at);
    if (this.#seq === this.#longer) {
      this.#digits += 1;
      this.#longer *= 10;
    }
    at = buffer.writeCount(this.#seq, this.#digits, seqAt);
    at = draft.copyPart(PART.entryEnd, buffer, at);
    writeLength(buffer.bytes, this.#start, at);
    this.#places[this.#count * 2] = seqAt - this.#recordsAt;
    this.#places[this.#count * 2 + 1] = at - this.#recordsAt;
    this.#start = at;
    this.#count += 1;
    this.#seq += 1;
    return signatureAt;
  }

  /** The group in its own memory, which a thread can transfer without a copy. */
  take(first: number): SignedGroup {
    const records = Buffer.allocUnsafeSlow(this.#start - this.#recordsAt);
    records.set(this.#buffer.bytes.subarray(this.#recordsAt, this.#start));
    return sealGroup(first, records, this.#places);
  }
}
