import { createTileCache } from "../tiles/tile-cache.js";
import { makeCheckpoint } from "./checkpoints.js";
import type { CheckpointSource } from "./checkpoints.js";
import type { Covered } from "./covered.js";
import { proveEntry } from "./prove-entry.js";
import { isUnsealed } from "./seal.js";

/** What a {@link CheckpointKeeper} needs. */
export type CheckpointKeeperOptions = CheckpointSource & {
  /** What the newest checkpoint of the store covers. */
  readonly covered: Covered;
  /** Entries in the log now. */
  size(): number;
  /** Milliseconds between checkpoints while the log grows; 0 for none. */
  readonly interval: number;
  readonly onError?: ((error: unknown) => void) | undefined;
};

/** Signs checkpoints while the log grows, and proves entries against the newest. */
export class CheckpointKeeper {
  readonly #options: CheckpointKeeperOptions;
  readonly #tiles = createTileCache();
  readonly #timer: NodeJS.Timeout | undefined;
  #newest: { size: number; text: string } | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: CheckpointKeeperOptions) {
    this.#options = options;
    const { interval } = options;
    if (interval === 0) return;
    this.#timer = setInterval(() => this.#look(), interval);
    this.#timer.unref();
  }

  /** Signs a checkpoint of everything acknowledged, at once. */
  checkpoint(): Promise<string> {
    return this.#inTurn(() => this.#make());
  }

  async #make(): Promise<string> {
    const { covered } = this.#options;
    const { checkpoint, text } = await covered.retry(
      () => makeCheckpoint(this.#options, covered.known),
      isUnsealed,
    );
    const { size } = checkpoint;
    if (this.#newest === undefined || size >= this.#newest.size) this.#newest = { size, text };
    covered.raise(checkpoint);
    return text;
  }

  /** Proof of one entry against the newest checkpoint, made now if none covers it. */
  async prove(seq: number): Promise<string> {
    const isIn = (): boolean => this.#newest !== undefined && this.#newest.size > seq;
    // Of many that are asked for at once, the first one's checkpoint does for all.
    if (!isIn()) await this.#inTurn(() => (isIn() ? undefined : this.#make()));
    return proveEntry(this.#options.store, seq, this.#newest?.text ?? "", this.#tiles);
  }

  /** No more checkpoints by time; the last one covers everything. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#inTurn(() => this.#makeIfGrown());
  }

  #look(): void {
    if (this.#isCovered()) return;
    this.#inTurn(() => this.#makeIfGrown()).catch((error: unknown) =>
      this.#options.onError?.(error),
    );
  }

  #makeIfGrown(): Promise<string> | undefined {
    return this.#isCovered() ? undefined : this.#make();
  }

  /** One checkpoint after another: each is held against the one before. */
  #inTurn<Result>(make: () => Result | Promise<Result>): Promise<Result> {
    const made = this.#underWay.then(make);
    this.#underWay = made.catch(() => undefined);
    return made;
  }

  // More than this log's own entries may be covered: other gateways append too.
  #isCovered(): boolean {
    return this.#options.size() <= (this.#options.covered.known?.size ?? -1);
  }
}
