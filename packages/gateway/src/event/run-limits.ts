import { CountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import "../base/errors.js";

/** The limits of one run; `limits.run_*` in the configuration. */
export type RunLimits = {
  /** Milliseconds from the agent's response to the end of the stream. */
  readonly runMs: number;
  /** Milliseconds of waiting without an event. Keep-alive comments, empty frames and unknown types are not events. */
  readonly runSilenceMs: number;
  /** Frames from the agent that hold a JSON object, known event or not. */
  readonly runEvents: number;
  /** Bytes of the agent's stream, including comments. */
  readonly runBytes: number;
  /** UTF-8 bytes of one encrypted value; `limits.encrypted_value_bytes`. */
  readonly encryptedBytes: number;
};

/** The error message of each limit. */
const LIMITS = {
  ERR_RUN_TIME: "the run takes longer than limits.run_timeout",
  ERR_RUN_SILENCE: "the agent sent no event for longer than limits.run_silence",
  ERR_RUN_EVENTS: "the run has more events than limits.run_events",
  ERR_RUN_BYTES: "the run has more bytes than limits.run_bytes",
} as const satisfies Partial<Record<ErrorCode, string>>;

type RunLimitCode = keyof typeof LIMITS;

/** Whether a code is that of a run limit. */
export function isRunLimit(code: string): code is RunLimitCode {
  return Object.hasOwn(LIMITS, code);
}

/** Creates the error of a run that reached a limit. */
export function runLimitReached(code: RunLimitCode, allowed: number): CountersignError {
  return new CountersignError(code, LIMITS[code], { allowed });
}

/**
 * Ends a run that takes too long, as a whole or without an event.
 *
 * One timer serves both limits and is set again when it fires: setting and clearing a timer for each read would cost more than the event.
 */
export class RunTimer {
  readonly #limits: RunLimits;
  readonly #expired: (error: CountersignError) => void;
  readonly #startedAt = performance.now();
  /** Milliseconds of silence up to `#since`. */
  #silentMs = 0;
  #since: number | undefined;
  #timer: NodeJS.Timeout;

  constructor(limits: RunLimits, expired: (error: CountersignError) => void) {
    this.#limits = limits;
    this.#expired = expired;
    this.#timer = setTimeout(look, Math.min(limits.runMs, limits.runSilenceMs), this);
  }

  /** The gateway starts to wait for the agent. */
  listen(): void {
    this.#since ??= performance.now();
  }

  /** The gateway waits for a slow reader, the log or a store. The agent is not silent meanwhile. */
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
