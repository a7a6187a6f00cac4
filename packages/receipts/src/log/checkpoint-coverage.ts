import type { KnownHead } from "./seal.js";

/** The newest known checkpoint of a log. Entries that it covers need no seal. */
export class CheckpointCoverage {
  #known: KnownHead | undefined;
  readonly #read: (known?: KnownHead) => Promise<KnownHead | undefined>;

  /**
   * `read` returns the newest checkpoint of the store, signed by this log's key and consistent with
   * `known`.
   */
  constructor(
    known: KnownHead | undefined,
    read: (known?: KnownHead) => Promise<KnownHead | undefined>,
  ) {
    this.#known = known;
    this.#read = read;
  }

  get known(): KnownHead | undefined {
    return this.#known;
  }

  /** Records a newer checkpoint. */
  raise(checkpoint: KnownHead): void {
    if (checkpoint.size >= (this.#known?.size ?? 0)) this.#known = checkpoint;
  }

  /**
   * Runs `act`; retries once when a seal was missing and a newer checkpoint exists by then. A
   * gateway of a version without seals signs its entries up to a second later, or when it stops.
   */
  async retry<Result>(
    act: () => Promise<Result>,
    isUnsealed: (error: unknown) => boolean,
  ): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      if (!isUnsealed(error)) throw error;
      const known = this.#known;
      const newest = await this.#read(known);
      if (newest === undefined || newest.size <= (known?.size ?? 0)) throw error;
      if (this.#known === known) this.#known = newest;
      return act();
    }
  }
}
