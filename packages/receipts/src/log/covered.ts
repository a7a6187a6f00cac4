import type { KnownHead } from "./seal.js";

/** What the newest checkpoint of a log covers, as far as is known here: that needs no seal. */
export class Covered {
  #known: KnownHead | undefined;
  readonly #read: (known?: KnownHead) => Promise<KnownHead | undefined>;

  /** `read` reads the newest checkpoint of the store, which this log's key signed and which goes on from what was known. */
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

  /** More of the log was signed for. */
  raise(checkpoint: KnownHead): void {
    if (checkpoint.size >= (this.#known?.size ?? 0)) this.#known = checkpoint;
  }

  /**
   * Does something, and once more where it was refused for want of a seal and more is signed for by now: a gateway of a
   * version without seals signs for what it wrote up to a second later, or when it stops.
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
