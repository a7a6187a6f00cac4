/** How much more than its limit is kept before the oldest are let go of, so that it is not done frame by frame. */
const SLACK = 1.25;

/** The last frames of a stream, numbered from 1. */
export class BufferedFrames {
  #frames: string[] = [];
  #first = 1;
  #size = 0;

  /** Characters kept. */
  get size(): number {
    return this.#size;
  }

  /** The number the next frame will have. */
  get next(): number {
    return this.#first + this.#frames.length;
  }

  add(frame: string): void {
    this.#frames.push(frame);
    this.#size += frame.length;
  }

  /** Lets go of the oldest once there is more than this. */
  trim(limit: number): void {
    if (this.#size <= limit * SLACK) return;
    let count = 0;
    while (this.#size > limit) this.#size -= (this.#frames[count++] as string).length;
    this.#frames.splice(0, count);
    this.#first += count;
  }

  /** All that came after a frame, in one piece; undefined when the frame never was, or some of it is gone. */
  after(number: number): string | undefined {
    const from = number + 1 - this.#first;
    return from < 0 || number >= this.next ? undefined : this.#frames.slice(from).join("");
  }
}
