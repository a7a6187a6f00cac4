import { CountersignError } from "@countersign/core";
import "./errors.js";
import type { UpstreamTarget } from "./upstream.js";

/** Measures how long an agent stays silent while we listen. */
export type IdleTimer = {
  /** We listen from now on. */
  start(): void;
  /** Something came, or nobody listens for the moment. */
  stop(): void;
  /** The stream is over. */
  end(): void;
};

/**
 * Makes the timer of one stream; `expired` is told once the agent was silent for too long.
 *
 * Starting and stopping only take note of the time: a timer set and cleared for each read would cost
 * more than looking again when the one timer fires.
 */
export function createIdleTimer(
  target: UpstreamTarget,
  expired: (error: CountersignError) => void,
): IdleTimer {
  const { idleTimeoutMs } = target;
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  const look = (): void => {
    const left = since === undefined ? idleTimeoutMs : since + idleTimeoutMs - performance.now();
    if (left > 0) {
      timer = setTimeout(look, Math.ceil(left));
      return;
    }
    expired(
      new CountersignError("ERR_UPSTREAM_TIMEOUT", `agent ${target.name} fell silent`, {
        agent: target.name,
        phase: "idle",
        milliseconds: idleTimeoutMs,
      }),
    );
  };
  return {
    start: () => {
      since = performance.now();
      timer ??= setTimeout(look, idleTimeoutMs);
    },
    stop: () => {
      since = undefined;
    },
    end: () => {
      since = undefined;
      clearTimeout(timer);
    },
  };
}
