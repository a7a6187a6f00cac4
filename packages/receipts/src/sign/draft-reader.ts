import type { Part } from "./group.js";
import { HASH_DIGITS, MARK_BYTES, PARTS, partSet } from "./group.js";
import type { ScratchBuffer } from "./scratch-buffer.js";

const LINE_FEED = 0x0a;

/** Reads the rows of drafts (`DraftText`) and locates the pieces of each draft. */
export class DraftReader {
  /** Start and length of each part of the draft, by `PART`. */
  readonly starts: number[] = Array.from({ length: PARTS }, () => 0);
  readonly lengths: number[] = Array.from({ length: PARTS }, () => 0);
  idAt = 0;
  idLength = 0;
  /** Position of the payload hash; -1 when the payload itself was sent. */
  hashAt = 0;
  #at: number;
  readonly #end: number;

  constructor(start: number, end: number) {
    this.#at = start;
    this.#end = end;
  }

  /** Reads the next draft. Rows that end too early show in `isAtEnd`. */
  next(bytes: Uint8Array): void {
    const set = partSet(bytes[this.#at] as number, bytes[this.#at + 1] as number);
    this.#at += MARK_BYTES + 1;
    for (let place = 0; place < PARTS; place += 1) {
      if ((set & (1 << place)) === 0) continue;
      this.starts[place] = this.#at;
      this.lengths[place] = this.#skip(bytes);
    }
    this.idAt = this.#at;
    this.idLength = this.#skip(bytes);
    const isHashed = this.#at < this.#end && bytes[this.#at] !== LINE_FEED;
    this.hashAt = isHashed ? this.#at : -1;
    this.#at += isHashed ? HASH_DIGITS + 1 : 1;
  }

  /** Copies a part of the draft inside the buffer and returns the end position. */
  copyPart(part: Part, buffer: ScratchBuffer, at: number): number {
    return buffer.copy(this.starts[part] as number, at, this.lengths[part] as number);
  }

  /** Whether all drafts were read. */
  get isAtEnd(): boolean {
    return this.#at === this.#end + 1;
  }

  #skip(bytes: Uint8Array): number {
    const start = this.#at;
    const end = this.#end;
    let at = start;
    while (at < end && bytes[at] !== LINE_FEED) at += 1;
    this.#at = at + 1;
    return at - start;
  }
}
