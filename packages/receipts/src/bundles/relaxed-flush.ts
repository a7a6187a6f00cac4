/** How long a relaxed append may stay in the operating system's memory only. */
const RELAXED_SYNC_MS = 200;

/** Flushes what was written without waiting, a little later and for many appends at once. */
export class RelaxedFlush {
  readonly #sync: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isPending = false;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Something was written that may so far be in the operating system's memory only. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Takes note of a write; the flush comes within 200 ms. */
  later(): void {
    this.#isPending = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sync().then(
        () => {
          this.#isPending = this.#timer !== undefined;
        },
        // Stays pending: the next checkpoint reports it.
        () => undefined,
      );
    }, RELAXED_SYNC_MS).unref();
  }

  /** Leaves the clock; whether something is pending can still be asked. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
