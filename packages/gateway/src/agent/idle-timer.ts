import { CountersignError } from "@countersign/core";
import "./errors.js";
import type { UpstreamTarget } from "./upstream.js";

/**
 * Measures how long an agent stays silent while we listen; `expired` is told once it was too long.
 *
 * Starting and stopping only take note of the time: a timer set and cleared for each read would cost
 * more than looking again when the one timer fires.
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

  /** We listen from now on. */
  start(): void {
    this.#since = performance.now();
    this.#timer ??= setTimeout(look, this.#target.idleTimeoutMs, this);
  }

  /** Something came, or nobody listens for the moment. */
  stop(): void {
    this.#since = undefined;
  }

  /** The stream is over. */
  end(): void {
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  look(): void {
    const { idleTimeoutMs, name } = this.#target;
    const silent = this.#since === undefined ? 0 : performance.now() - this.#since;
    if (silent < idleTimeoutMs) {
      this.#timer = setTimeout(look, Math.ceil(idleTimeoutMs - silent), this);
      return;
    }
    this.#expired(
      new CountersignError("ERR_UPSTREAM_TIMEOUT", `agent ${name} fell silent`, {
        agent: name,
        phase: "idle",
        milliseconds: idleTimeoutMs,
      }),
    );
  }
}

function look(timer: IdleTimer): void {
  timer.look();
}
