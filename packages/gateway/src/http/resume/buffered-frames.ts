/**
 * How far the buffer may exceed its limit before the oldest frames are dropped, so that they are dropped in batches.
 */
const SLACK = 1.25;

/** The last frames of a stream, numbered from 1. */
export class BufferedFrames {
  #frames: string[] = [];
  #first = 1;
  #size = 0;

  /** Bytes in the buffer. */
  get size(): number {
    return this.#size;
  }

  /** The number of the next frame. */
  get next(): number {
    return this.#first + this.#frames.length;
  }

  add(frame: string): void {
    this.#frames.push(frame);
    this.#size += Buffer.byteLength(frame);
  }

  /** Drops the oldest frames once the buffer exceeds the limit. */
  trim(limit: number): void {
    if (this.#size <= limit * SLACK) return;
    let count = 0;
    while (this.#size > limit) this.#size -= Buffer.byteLength(this.#frames[count++] as string);
    this.#frames.splice(0, count);
    this.#first += count;
  }

  /** All frames after this one as one text; `undefined` if the frame never existed or a later one was dropped. */
  after(number: number): string | undefined {
    const from = number + 1 - this.#first;
    return from < 0 || number >= this.next ? undefined : this.#frames.slice(from).join("");
  }
}
