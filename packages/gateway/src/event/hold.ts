/** What keeps a run from going on with what it has read; kept by a stage, heeded by whoever drives the run. */
export class Hold {
  /** Resolves when the run may go on; it is gone by then. */
  until: Promise<void> | undefined;
  /** Goes on with what the stage kept back, which may run into the next hold. */
  resume: () => void = () => {};

  /** Holds the run until then. */
  set(until: Promise<void>): void {
    this.until = until.then(() => {
      this.until = undefined;
    });
  }
}
