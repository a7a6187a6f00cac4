/** Pauses a run. A stage sets the hold and keeps the events; the driver of the run waits, and then resumes the pipeline. */
export class Hold {
  /** Resolves when the run may continue; `undefined` while the run is not held. */
  until: Promise<void> | undefined;

  set(until: Promise<void>): void {
    this.until = until.then(() => {
      this.until = undefined;
    });
  }
}
