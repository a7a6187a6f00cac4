import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/** Reads the segments' bytes on the index thread, where waiting for the disk hurts nobody. */
export class SegmentReader {
  readonly #directory: string;
  #start = -1;
  #next = Number.POSITIVE_INFINITY;
  #file: number | undefined;
  #bytes = Buffer.alloc(0);

  constructor(directory: string) {
    this.#directory = directory;
  }

  #seek(position: number): number {
    if (this.#file !== undefined && position >= this.#start && position < this.#next) {
      return this.#file;
    }
    this.close();
    const starts = readdirSync(this.#directory)
      .flatMap((name) => (name.endsWith(".log") ? [Number.parseInt(name, 10)] : []))
      .sort((left, right) => left - right);
    const at = starts.findLastIndex((start) => start <= position);
    const start = starts[at] ?? 0;
    const path = join(this.#directory, `${String(start).padStart(16, "0")}.log`);
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#start = start;
    // The last file may be followed by a new one at any time, which then shows as an empty read.
    this.#next = starts[at + 1] ?? Number.POSITIVE_INFINITY;
    this.#file = file;
    return file;
  }

  /**
   * Up to `length` bytes from `position`; ends at the end of a file at the latest. They are good until
   * the next call: fresh memory for each would cost more than reading.
   */
  read(position: number, length: number): Buffer {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(length);
    const bytes = this.#bytes;
    for (const attempt of [1, 2]) {
      const file = this.#seek(position);
      const room = Math.min(length, this.#next - position);
      const count = readSync(file, bytes, 0, room, position - this.#start);
      if (count > 0 || attempt === 2) return bytes.subarray(0, count);
      this.close();
    }
    return bytes.subarray(0, 0);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
