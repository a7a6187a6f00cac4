import { createTileCache } from "../tiles/tile-cache.js";
import { makeCheckpoint } from "./checkpoints.js";
import type { CheckpointSource } from "./checkpoints.js";
import type { CheckpointCoverage } from "./checkpoint-coverage.js";
import { proveEntry } from "./prove-entry.js";
import { isUnsealed } from "./seal.js";

/** Options of {@link CheckpointScheduler}. */
export type CheckpointSchedulerOptions = CheckpointSource & {
  /** The part of the log that the newest checkpoint covers. */
  readonly coverage: CheckpointCoverage;
  /** The number of entries in the log. */
  size(): number;
  /** Milliseconds between checkpoints while the log grows; 0 for none. */
  readonly interval: number;
  readonly onError?: ((error: unknown) => void) | undefined;
};

/** Signs checkpoints while the log grows, and proves entries against the newest. */
export class CheckpointScheduler {
  readonly #options: CheckpointSchedulerOptions;
  readonly #tiles = createTileCache();
  readonly #timer: NodeJS.Timeout | undefined;
  #newest: { size: number; text: string } | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: CheckpointSchedulerOptions) {
    this.#options = options;
    const { interval } = options;
    if (interval === 0) return;
    this.#timer = setInterval(() => this.#look(), interval);
    this.#timer.unref();
  }

  /** Signs a checkpoint of all acknowledged entries now. */
  checkpoint(): Promise<string> {
    return this.#inTurn(() => this.#make());
  }

  async #make(): Promise<string> {
    const { coverage } = this.#options;
    const { checkpoint, text } = await coverage.retry(
      () => makeCheckpoint(this.#options, coverage.known),
      isUnsealed,
    );
    const { size } = checkpoint;
    if (this.#newest === undefined || size >= this.#newest.size) this.#newest = { size, text };
    coverage.raise(checkpoint);
    return text;
  }

  /** Proof of one entry against the newest checkpoint; signs one first if none covers the entry. */
  async prove(seq: number): Promise<string> {
    const isIn = (): boolean => this.#newest !== undefined && this.#newest.size > seq;
    // One checkpoint serves all concurrent requests.
    if (!isIn()) await this.#inTurn(() => (isIn() ? undefined : this.#make()));
    return proveEntry(this.#options.store, seq, this.#newest?.text ?? "", this.#tiles);
  }

  /** Stops the timer; a last checkpoint covers everything. */
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

  /** Serializes checkpoints: each is compared with the previous one. */
  #inTurn<Result>(make: () => Result | Promise<Result>): Promise<Result> {
    const made = this.#underWay.then(make);
    this.#underWay = made.catch(() => undefined);
    return made;
  }

  // The checkpoint may cover more than this log's own entries: other gateways append too.
  #isCovered(): boolean {
    return this.#options.size() <= (this.#options.coverage.known?.size ?? -1);
  }
}
