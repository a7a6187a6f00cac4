import { join } from "node:path";
import { HASH_BYTES } from "../merkle/hash.js";
import type { TileHash } from "../store/store.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { Disk, DiskFile } from "./disk.js";

const POSITION_BYTES = 8;

/**
 * What can be made again from the segments: the hashes of each tile level side by side, and where
 * each bundle of 256 entries begins. Written with every append, flushed only with a checkpoint.
 */
export class DerivedFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #mode: "create" | "read";
  readonly #files = new Map<string, Promise<DiskFile>>();

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
      // A failed open is tried again by the next call.
      file.catch(() => this.#files.delete(name));
    }
    return file;
  }

  /** Writes the hashes of an append that starts at leaf `first`; of each level they follow on one another. */
  async writeHashes(
    first: number,
    leaves: readonly Uint8Array[],
    above: readonly TileHash[],
  ): Promise<void> {
    const write = async (level: number, pieces: readonly Uint8Array[], index: number) =>
      (await this.#file(String(level))).write(pieces, index * HASH_BYTES);
    const writes = [write(0, leaves, first)];
    for (const level of new Set(above.map((one) => one.level))) {
      const of = above.filter((one) => one.level === level);
      const hashes = of.map((one) => one.hash);
      writes.push(write(level, hashes, of[0]?.index ?? 0));
    }
    // All are waited for, failed or not: none may come after what follows a failure.
    const results = await Promise.allSettled(writes);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  /** Notes where bundles begin; `positions` belong to consecutive bundles from `first` on. */
  async writePositions(first: number, positions: readonly number[]): Promise<void> {
    if (positions.length === 0) return;
    const bytes = Buffer.alloc(positions.length * POSITION_BYTES);
    positions.forEach((position, at) =>
      bytes.writeBigUInt64BE(BigInt(position), at * POSITION_BYTES),
    );
    await (await this.#file("bundles")).write([bytes], first * POSITION_BYTES);
  }

  /** Bytes of one tile; shorter than asked when the file lacks them. */
  async readTile(level: number, index: number, width: number): Promise<Uint8Array> {
    const file = await this.#file(String(level));
    return file.read(width * HASH_BYTES, index * TILE_WIDTH * HASH_BYTES);
  }

  /** Where bundles begin, as many as are known of `count` from `first` on. */
  async readPositions(first: number, count: number): Promise<number[]> {
    const file = await this.#file("bundles");
    const bytes = Buffer.from(await file.read(count * POSITION_BYTES, first * POSITION_BYTES));
    return Array.from({ length: Math.floor(bytes.length / POSITION_BYTES) }, (_, at) =>
      Number(bytes.readBigUInt64BE(at * POSITION_BYTES)),
    );
  }

  async sync(): Promise<void> {
    await Promise.all([...this.#files.values()].map(async (file) => (await file).sync()));
    await this.#disk.syncDirectory(this.#directory);
  }

  async close(): Promise<void> {
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(files.map(async (file) => (await file).close()));
  }
}
