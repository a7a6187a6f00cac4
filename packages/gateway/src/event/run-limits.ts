import { CountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import "./errors.js";

/** What one run may take of the gateway, whatever its agent sends; the configuration's `limits.run_*`. */
export type RunLimits = {
  /** Milliseconds from the agent's answer to the end of the stream. */
  readonly runMs: number;
  /** Milliseconds of listening without an event; keep-alive comments, empty frames and unknown types are none. */
  readonly runSilenceMs: number;
  /** Frames of the agent that hold a JSON object, whether they are known events or not. */
  readonly runEvents: number;
  /** Bytes of the agent's stream, comments included. */
  readonly runBytes: number;
  /** UTF-8 bytes of one encrypted value; `limits.encrypted_value_bytes`. */
  readonly encryptedBytes: number;
};

/** The error for each limit, with what it says. */
const LIMITS = {
  ERR_RUN_TIME: "the run takes longer than limits.run_timeout",
  ERR_RUN_SILENCE: "the agent sent no event for longer than limits.run_silence",
  ERR_RUN_EVENTS: "the run has more events than limits.run_events",
  ERR_RUN_BYTES: "the run has more bytes than limits.run_bytes",
} as const satisfies Partial<Record<ErrorCode, string>>;

type RunLimitCode = keyof typeof LIMITS;

/** Whether a code says that a run reached one of its limits. */
export function isRunLimit(code: string): code is RunLimitCode {
  return Object.hasOwn(LIMITS, code);
}

/** The error of a run that reached a limit. */
export function runLimitReached(code: RunLimitCode, allowed: number): CountersignError {
  return new CountersignError(code, LIMITS[code], { allowed });
}

/**
 * Ends a run that takes too long, as a whole or without an event.
 *
 * One timer for both, set again when it fires: setting and clearing one for each read would cost more than the event.
 */
export class RunTimer {
  readonly #limits: RunLimits;
  readonly #expired: (error: CountersignError) => void;
  readonly #startedAt = performance.now();
  /** Milliseconds of listening since the last event, up to `#since`. */
  #silentMs = 0;
  #since: number | undefined;
  #timer: NodeJS.Timeout;

  constructor(limits: RunLimits, expired: (error: CountersignError) => void) {
    this.#limits = limits;
    this.#expired = expired;
    this.#timer = setTimeout(look, Math.min(limits.runMs, limits.runSilenceMs), this);
  }

  /** The gateway waits for the agent from now on. */
  listen(): void {
    this.#since ??= performance.now();
  }

  /** Something else is waited for: a slow reader, the log, a store. That is not the agent's silence. */
  pause(): void {
    this.#silentMs = this.#silent();
    this.#since = undefined;
  }

  /** The agent sent an event. */
  progress(): void {
    this.#silentMs = 0;
    if (this.#since !== undefined) this.#since = performance.now();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  look(): void {
    const { runMs, runSilenceMs } = this.#limits;
    const left = runMs - (performance.now() - this.#startedAt);
    const leftSilent = runSilenceMs - this.#silent();
    if (left <= 0) this.#expired(runLimitReached("ERR_RUN_TIME", runMs));
    else if (leftSilent <= 0) this.#expired(runLimitReached("ERR_RUN_SILENCE", runSilenceMs));
    else this.#timer = setTimeout(look, Math.ceil(Math.min(left, leftSilent)), this);
  }

  #silent(): number {
    return this.#silentMs + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }
}

function look(timer: RunTimer): void {
  timer.look();
}
