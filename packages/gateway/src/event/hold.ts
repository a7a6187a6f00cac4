/** Pauses a run. A stage sets the hold, and the driver of the run waits for it. */
export class Hold {
  /** Resolves when the run may continue; `undefined` while the run is not held. */
  until: Promise<void> | undefined;
  /** Processes the events that the stage kept during the hold. One of them may set the next hold. */
  resume: () => void = () => {};

  set(until: Promise<void>): void {
    this.until = until.then(() => {
      this.until = undefined;
    });
  }
}
