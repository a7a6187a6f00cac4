import { join } from "node:path";
import { corrupt } from "../store/failure.js";
import type { Disk, DiskFile } from "./disk.js";

const NAME = /^(\d{16})\.log$/;

/**
 * Number of preallocated zero bytes: as many as the file holds, between these limits. Syncing a
 * file whose size does not change takes half the time: the file system journals no new size and
 * does not wait for other writers of its journal.
 */
const MIN_PREALLOCATED = 64 << 10;
const MAX_PREALLOCATED = 1 << 20;
const ZEROS = Buffer.alloc(MAX_PREALLOCATED);

type Segment = { readonly start: number; readonly file: DiskFile };

/**
 * The append-only byte string of the log, split into files named by the position of their first
 * byte. Positions continue from file to file.
 */
export class Segments {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #segments: Segment[] = [];
  /** Position up to which the last file is preallocated. */
  #preallocated = 0;

  private constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** Opens the existing files; there must be no gap between them. */
  static async open(disk: Disk, directory: string, mode: "write" | "read"): Promise<Segments> {
    const segments = new Segments(disk, directory);
    try {
      await segments.refresh(mode);
    } catch (error) {
      await segments.close();
      throw error;
    }
    return segments;
  }

  /** Opens the files that were created since, for a reader by another process. */
  async refresh(mode: "write" | "read"): Promise<void> {
    const starts = (await this.#disk.list(this.#directory)).flatMap((name) => {
      const match = NAME.exec(name);
      return match === null ? [] : [Number(match[1])];
    });
    for (const start of starts) {
      const last = this.#segments.at(-1);
      if (last !== undefined && start <= last.start) continue;
      if (last !== undefined && last.start + (await last.file.size()) < start) {
        throw corrupt(0, "a segment file is shorter than its successor's name says");
      }
      this.#segments.push({ start, file: await this.#disk.open(this.#path(start), mode) });
    }
  }

  #path(start: number): string {
    return join(this.#directory, `${String(start).padStart(16, "0")}.log`);
  }

  /** Position after the last stored byte, preallocated bytes included. */
  async end(): Promise<number> {
    const last = this.#segments.at(-1);
    return last === undefined ? 0 : last.start + (await last.file.size());
  }

  /** First position of the file that holds `position`. */
  startOf(position: number): number {
    return this.#segments.findLast((one) => one.start <= position)?.start ?? 0;
  }

  /** Whether a later file starts at or after `position`. */
  hasFileFrom(position: number): boolean {
    return this.#segments.some((one) => one.start > 0 && one.start >= position);
  }

  /** The first positions of all files after the first, in order. */
  laterStarts(): number[] {
    return this.#segments.slice(1).map(({ start }) => start);
  }

  /** Deletes the files that end at or before `position`, which is the start of a file. */
  async removeBefore(position: number): Promise<void> {
    for (let first = this.#segments[0]; first !== undefined; first = this.#segments[0]) {
      const next = this.#segments[1];
      if (next === undefined || next.start > position) return;
      this.#segments.shift();
      await first.file.close();
      await this.#disk.remove(this.#path(first.start));
      await this.#disk.syncDirectory(this.#directory);
    }
  }

  async #fileAt(position: number): Promise<Segment> {
    const found = this.#segments.findLast((one) => one.start <= position);
    return found ?? this.roll(0);
  }

  /** Starts a new file at `position`; its name is durable before anything is written to it. */
  async roll(position: number): Promise<Segment> {
    const known = this.#segments.find((one) => one.start === position);
    if (known !== undefined) return known;
    const file = await this.#disk.open(this.#path(position), "create");
    try {
      await file.truncate(0);
      await this.#disk.syncDirectory(this.#directory);
    } catch (error) {
      await file.close();
      throw error;
    }
    const segment = { start: position, file };
    this.#segments.push(segment);
    this.#preallocated = position;
    return segment;
  }

  /**
   * Writes the pieces in order at the end of the log. The write is done when it returns, or when
   * the returned promise resolves. With `isStrict` the bytes are then on disk.
   *
   * Only such writes use preallocated zeros. The size of a growing file changes when its bytes are
   * on disk. In a preallocated file a power failure may keep a later write and lose an earlier one,
   * and a write that was never acknowledged would look like damage.
   */
  write(
    pieces: readonly Uint8Array[],
    position: number,
    isStrict: boolean,
  ): Promise<void> | undefined {
    const segment = this.#segments.at(-1);
    if (segment === undefined) {
      return this.roll(0).then(() => this.write(pieces, position, isStrict));
    }
    const at = position - segment.start;
    const end = pieces.reduce((sum, { length }) => sum + length, position);
    // For a large flush the new size costs little; preallocating would write zeros for nothing.
    const isSmall = end - position < MIN_PREALLOCATED;
    if (!isStrict) return segment.file.write(pieces, at);
    if (end <= this.#preallocated || !isSmall) return segment.file.writeThrough(pieces, at);
    return this.#writePreallocating(segment, pieces, at, end);
  }

  async #writePreallocating(
    { start, file }: Segment,
    pieces: readonly Uint8Array[],
    at: number,
    end: number,
  ): Promise<void> {
    const ahead = Math.min(MAX_PREALLOCATED, Math.max(MIN_PREALLOCATED, end - start));
    this.#preallocated = end + ahead;
    try {
      await file.writeThrough([...pieces, ZEROS.subarray(0, ahead)], at);
    } catch {
      // A disk without room for zeros may still have room for entries.
      await file.writeThrough(pieces, at);
      this.#preallocated = end;
    }
  }

  /** Syncs the file that ends at or holds `position`. */
  async sync(position: number): Promise<void> {
    await (await this.#fileAt(position)).file.sync();
  }

  /** Up to `length` bytes from `position`, across files; fewer at the end of the log. */
  async read(position: number, length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let at = position;
    for (const [index, { start, file }] of this.#segments.entries()) {
      const next = this.#segments[index + 1]?.start ?? Number.POSITIVE_INFINITY;
      if (next <= at || start >= position + length) continue;
      const part = await file.read(Math.min(position + length, next) - at, at - start);
      parts.push(part);
      at += part.length;
      if (at < Math.min(position + length, next)) break;
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined
      ? Buffer.from(only.buffer, only.byteOffset, only.length)
      : Buffer.concat(parts);
  }

  /** Truncates the log at `position`, durably. */
  async cut(position: number): Promise<void> {
    this.#preallocated = position;
    for (let last = this.#segments.at(-1); last !== undefined; last = this.#segments.at(-1)) {
      if (last.start < position || last.start === 0) {
        if (last.start + (await last.file.size()) > position) {
          await last.file.truncate(position - last.start);
        }
        await last.file.sync();
        return;
      }
      this.#segments.pop();
      await last.file.close();
      await this.#disk.remove(this.#path(last.start));
      await this.#disk.syncDirectory(this.#directory);
    }
  }

  /**
   * Removes the preallocated bytes after the end of the log. Best effort: nothing depends on it.
   */
  async trim(position: number): Promise<void> {
    const last = this.#segments.at(-1);
    if (last === undefined || this.#preallocated <= position) return;
    await last.file.truncate(position - last.start).catch(() => undefined);
    this.#preallocated = position;
  }

  async close(): Promise<void> {
    for (const { file } of this.#segments.splice(0)) await file.close();
  }
}
