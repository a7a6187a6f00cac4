/** Counts the events that wait for their receipt. The gateway stops reading from the agent while too many wait. */
export class Backlog {
  #size = 0;
  #limit = 0;
  #resolve: (() => void) | undefined;

  get size(): number {
    return this.#size;
  }

  set(size: number): void {
    this.#size = size;
    if (this.#resolve === undefined || size >= this.#limit) return;
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve();
  }

  /** Resolves when fewer events than the limit wait. */
  roomBelow(limit: number): Promise<void> {
    if (this.#size < limit) return Promise.resolve();
    return new Promise((resolve) => {
      this.#limit = limit;
      this.#resolve = resolve;
    });
  }
}

/** The pause of a run. A stage sets it and keeps the events; the driver of the run waits, and then lets the pipeline proceed. */
export class Pause {
  /** Resolves when the run may continue; `undefined` while the run is not paused. */
  until: Promise<void> | undefined;

  set(until: Promise<void>): void {
    this.until = until.then(() => {
      this.until = undefined;
    });
  }
}
