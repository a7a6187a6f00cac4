/** A thread with an open run; it stays in the admission's table until the run is saved. */
export class OpenThread {
  /** Nothing more is delivered; only the last write is pending. */
  isEnding = false;
  readonly #threads: Map<string, OpenThread>;
  readonly #key: string;
  #isOver = false;
  #waiting: (() => void)[] | undefined;

  /** In observe mode a second run may open: the first one stays in the table. */
  constructor(threads: Map<string, OpenThread>, key: string) {
    this.#threads = threads;
    this.#key = key;
    if (!threads.has(key)) threads.set(key, this);
  }

  /** Resolves when the run has been saved. */
  whenOver(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Called when the run has been saved, or never began. */
  leave(): void {
    this.#isOver = true;
    if (this.#threads.get(this.#key) === this) this.#threads.delete(this.#key);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}
