import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { UpstreamTarget } from "./upstream.js";

/**
 * Measures how long an agent is silent while the gateway reads; calls `expired` once when it was too long.
 *
 * Starting and stopping only store the time: setting and clearing a timer for each read would cost more than checking
 * again when the one timer fires.
 */
export class IdleTimer {
  readonly #target: UpstreamTarget;
  readonly #expired: (error: CountersignError) => void;
  #timer: NodeJS.Timeout | undefined;
  #since: number | undefined;

  constructor(target: UpstreamTarget, expired: (error: CountersignError) => void) {
    this.#target = target;
    this.#expired = expired;
  }

  /** The gateway reads from now on. */
  start(): void {
    this.#since = performance.now();
    this.#timer ??= setTimeout(check, this.#target.idleTimeoutMs, this);
  }

  /** Data arrived, or the gateway pauses reading. */
  stop(): void {
    this.#since = undefined;
  }

  /** The stream is over. */
  end(): void {
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  check(): void {
    const { idleTimeoutMs, name } = this.#target;
    const silent = this.#since === undefined ? 0 : performance.now() - this.#since;
    if (silent < idleTimeoutMs) {
      this.#timer = setTimeout(check, Math.ceil(idleTimeoutMs - silent), this);
      return;
    }
    this.#expired(
      new CountersignError("ERR_UPSTREAM_TIMEOUT", `agent ${name} sent nothing for too long`, {
        agent: name,
        phase: "idle",
        milliseconds: idleTimeoutMs,
      }),
    );
  }
}

function check(timer: IdleTimer): void {
  timer.check();
}
