import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/**
 * Reads the segments synchronously, on the index thread, where waiting for the disk blocks no
 * request.
 */
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
    // A new file may follow the last one at any time; then a read returns nothing.
    this.#next = starts[at + 1] ?? Number.POSITIVE_INFINITY;
    this.#file = file;
    return file;
  }

  /**
   * Up to `length` bytes from `position`, at most to the end of a file. They are valid until the
   * next call: allocating memory for each would cost more than reading.
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
