import type { Findings } from "../check/findings.js";
import type { SeenEvent } from "../check/stream-check.js";
import type { Phase } from "../probe/phase.js";

/** Fewer events prove nothing about buffering. */
const MIN_EVENTS = 5;
const MIN_SPREAD_MS = 500;
const BURST_EVENTS = 8;
const BURST_MS = 50;
const BURST_WAIT_MS = 1000;
const SLOW_SETUP_MS = 200;
/** The shortest cadence that every listed intermediary tolerates. */
export const SILENCE_MS = 15_000;

/** Checks the arrival times of events. */
export class ArrivalCheck {
  readonly #silenceMs: number;
  #events = 0;
  #stamped = 0;
  #firstAt = 0;
  #lastAt = 0;
  #firstStamp = Infinity;
  #lastStamp = -Infinity;
  #lastBytesAt: number | undefined;
  #longestGap = 0;
  #gapBefore = 0;

  constructor(silenceMs: number = SILENCE_MS) {
    this.#silenceMs = silenceMs;
  }

  /** Some bytes arrived, be it a comment. */
  bytes(atMs: number): void {
    const gap = this.#lastBytesAt === undefined ? 0 : atMs - this.#lastBytesAt;
    if (gap > this.#longestGap) {
      this.#longestGap = gap;
      this.#gapBefore = this.#events + 1;
    }
    this.#lastBytesAt = atMs;
  }

  /** An event arrived. */
  event(event: SeenEvent, atMs: number): void {
    if (this.#events++ === 0) this.#firstAt = atMs;
    this.#lastAt = atMs;
    if (event.timestamp === undefined) return;
    this.#stamped++;
    this.#firstStamp = Math.min(this.#firstStamp, event.timestamp);
    this.#lastStamp = Math.max(this.#lastStamp, event.timestamp);
  }

  /** Reports what the times tell; `sentAt` is when the request left. */
  check(findings: Findings, sentAt: number): void {
    if (this.#longestGap > this.#silenceMs) {
      findings.report("http/silence", {
        eventNumber: this.#gapBefore,
        detail: `${Math.round(this.#longestGap)} ms without a byte`,
      });
    }
    const arrived = this.#lastAt - this.#firstAt;
    const made = this.#lastStamp - this.#firstStamp;
    if (this.#stamped >= MIN_EVENTS && made >= MIN_SPREAD_MS && arrived < made / 10) {
      findings.report("http/buffered", {
        detail: `made over ${Math.round(made)} ms, arrived within ${Math.round(arrived)} ms`,
      });
    } else if (
      this.#events >= BURST_EVENTS &&
      this.#firstAt - sentAt >= BURST_WAIT_MS &&
      arrived < BURST_MS
    ) {
      const waited = Math.round(this.#firstAt - sentAt);
      findings.report("http/burst", {
        detail: `${this.#events} events within ${Math.round(arrived)} ms after ${waited} ms`,
      });
    }
  }
}

/** Reports a connection that took long to set up. */
export function checkSetup(phases: readonly Phase[], findings: Findings): void {
  const setup = phases
    .filter(({ name }) => name === "dns" || name === "tcp" || name === "tls")
    .reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  if (setup >= SLOW_SETUP_MS)
    findings.report("net/slow-setup", { detail: `${Math.round(setup)} ms` });
}
