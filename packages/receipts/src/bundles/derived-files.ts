import { join } from "node:path";
import { HASH_BYTES } from "../merkle/hash.js";
import type { TileHash } from "../store/store.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { Disk, DiskFile } from "./disk.js";

const POSITION_BYTES = 8;
/** The file with the start position of each bundle; the others are named by their tile level. */
const BUNDLES = "bundles";
/** Maximum number of buffered bytes: those of four thousand entries, a few flushes under load. */
const MAX_BUFFERED_BYTES = 128 << 10;

/** Consecutive bytes for one file. */
type Run = { readonly position: number; readonly pieces: Uint8Array[]; end: number };

/**
 * Files that can be rebuilt from the segments: the hashes of each tile level, and the start
 * position of each bundle of 256 entries. Writes are buffered across appends, since a write for
 * every flush costs as much as the flush itself. A checkpoint flushes them; recovery after a crash
 * starts there.
 */
export class DerivedFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #mode: "create" | "read";
  readonly #files = new Map<string, Promise<DiskFile>>();
  readonly #buffered = new Map<string, Run[]>();
  #bufferedBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(disk: Disk, directory: string, mode: "create" | "read") {
    this.#disk = disk;
    this.#directory = directory;
    this.#mode = mode;
  }

  #file(name: string): Promise<DiskFile> {
    let file = this.#files.get(name);
    if (file === undefined) {
      file = this.#disk.open(join(this.#directory, name), this.#mode);
      this.#files.set(name, file);
      // The next call retries a failed open.
      file.catch(() => this.#files.delete(name));
    }
    return file;
  }

  /**
   * Adds the results of an append that starts at leaf `first`: its hashes, consecutive in each
   * level, and the positions of the bundles that start in it. When the buffer is full it is written
   * first, and nothing is added if that fails: repeated failures must not fill the memory.
   */
  add(
    first: number,
    leaves: readonly Uint8Array[],
    above: readonly TileHash[],
    positions: readonly number[],
  ): Promise<void> | undefined {
    if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) {
      return this.flush().then(() => this.#bufferAppend(first, leaves, above, positions));
    }
    this.#bufferAppend(first, leaves, above, positions);
    return undefined;
  }

  #bufferAppend(
    first: number,
    leaves: readonly Uint8Array[],
    above: readonly TileHash[],
    positions: readonly number[],
  ): void {
    this.#enqueue("0", first * HASH_BYTES, leaves);
    for (const { level, index, hash } of above) {
      this.#enqueue(String(level), index * HASH_BYTES, [hash]);
    }
    if (positions.length === 0) return;
    const bytes = Buffer.alloc(positions.length * POSITION_BYTES);
    positions.forEach((position, at) =>
      bytes.writeBigUInt64BE(BigInt(position), at * POSITION_BYTES),
    );
    this.#enqueue(BUNDLES, Math.ceil(first / TILE_WIDTH) * POSITION_BYTES, [bytes]);
  }

  #enqueue(name: string, position: number, pieces: readonly Uint8Array[]): void {
    const runs = this.#buffered.get(name) ?? [];
    if (runs.length === 0) this.#buffered.set(name, runs);
    let run = runs.at(-1);
    if (run === undefined || run.end !== position) {
      run = { position, pieces: [], end: position };
      runs.push(run);
    }
    for (const piece of pieces) {
      run.pieces.push(piece);
      run.end += piece.length;
      this.#bufferedBytes += piece.length;
    }
  }

  /** Writes the buffer; data that could not be written stays in it. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    for (const [name, runs] of this.#buffered) {
      const file = await this.#file(name);
      for (let run = runs[0]; run !== undefined; run = runs[0]) {
        const { length } = run.pieces;
        const { end, position } = run;
        await file.write(run.pieces.slice(0, length), position);
        this.#bufferedBytes -= end - position;
        // More may have been added meanwhile.
        if (run.end === end) runs.shift();
        else runs[0] = { position: end, pieces: run.pieces.slice(length), end: run.end };
      }
    }
  }

  /** Bytes of one tile; shorter than asked when the file lacks them. */
  async readTile(level: number, index: number, width: number): Promise<Uint8Array> {
    await this.flush();
    const file = await this.#file(String(level));
    return file.read(width * HASH_BYTES, index * TILE_WIDTH * HASH_BYTES);
  }

  /** Start positions of bundles: up to `count` from `first` on, as many as are known. */
  async readPositions(first: number, count: number): Promise<number[]> {
    await this.flush();
    const file = await this.#file(BUNDLES);
    const bytes = Buffer.from(await file.read(count * POSITION_BYTES, first * POSITION_BYTES));
    return Array.from({ length: Math.floor(bytes.length / POSITION_BYTES) }, (_, at) =>
      Number(bytes.readBigUInt64BE(at * POSITION_BYTES)),
    );
  }

  async sync(): Promise<void> {
    await this.flush();
    await Promise.all([...this.#files.values()].map(async (file) => (await file).sync()));
    await this.#disk.syncDirectory(this.#directory);
  }

  async close(): Promise<void> {
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(files.map(async (file) => (await file).close()));
  }
}
