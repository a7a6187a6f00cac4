import type { Clock } from "../base/ports.js";

/** Wrong answers per minute before the next ones are not even looked into. */
const ALLOWED = 20;
const MINUTE_MS = 60_000;

/**
 * Bounds wrong tries. The right answer always passes: otherwise a stranger could lock the operator out.
 */
export class FailedAttempts {
  #since = Number.NEGATIVE_INFINITY;
  #count = 0;
  readonly #clock: Clock;
  readonly #allowed: number;

  constructor(clock: Clock, allowed: number = ALLOWED) {
    this.#clock = clock;
    this.#allowed = allowed;
  }

  /** Counts a wrong try; says whether it is one too many. */
  isTooMany(): boolean {
    const now = this.#clock.now();
    if (Math.abs(now - this.#since) >= MINUTE_MS) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count > this.#allowed;
  }
}
