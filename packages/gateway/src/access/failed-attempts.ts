import type { Clock } from "../base/ports.js";

/** Failed attempts per minute before further ones are rejected without a check. */
const ALLOWED = 20;
const MINUTE_MS = 60_000;

/** Limits failed attempts. The correct token is always accepted: otherwise a stranger could lock the operator out. */
export class FailedAttempts {
  #since = Number.NEGATIVE_INFINITY;
  #count = 0;
  readonly #clock: Clock;
  readonly #allowed: number;

  constructor(clock: Clock, allowed: number = ALLOWED) {
    this.#clock = clock;
    this.#allowed = allowed;
  }

  /** Counts a failed attempt and returns whether the limit is exceeded. */
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
