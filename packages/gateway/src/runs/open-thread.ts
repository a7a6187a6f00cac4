/** A thread on which a run is open; it is in the desk's table until the run is put away. */
export class OpenThread {
  /** Nothing more will be delivered; only the last write is still to come. */
  isEnding = false;
  readonly #threads: Map<string, OpenThread>;
  readonly #key: string;
  #isOver = false;
  #waiting: (() => void)[] | undefined;

  /** Where a second run is only remarked upon, the first stays the one that is open. */
  constructor(threads: Map<string, OpenThread>, key: string) {
    this.#threads = threads;
    this.#key = key;
    if (!threads.has(key)) threads.set(key, this);
  }

  /** Resolves when the run has been put away. */
  whenOver(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** The run has been put away, or never began. */
  leave(): void {
    this.#isOver = true;
    if (this.#threads.get(this.#key) === this) this.#threads.delete(this.#key);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}
