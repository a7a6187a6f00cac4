/** How long a relaxed append may stay in the page cache only. */
const RELAXED_SYNC_MS = 200;

/** Syncs relaxed appends: a little later, many at once. */
export class RelaxedFlush {
  readonly #sync: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isPending = false;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Whether written bytes may be in the page cache only. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Schedules a sync within 200 ms. */
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

  /** Stops the timer; `isPending` stays valid. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
