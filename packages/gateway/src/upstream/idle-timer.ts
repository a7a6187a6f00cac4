import { CountersignError } from "@countersign/core";
import "./errors.js";
import type { UpstreamTarget } from "./upstream.js";

/** Measures how long an agent stays silent while we listen. */
export type IdleTimer = { start(): void; stop(): void };

/** Makes the timer of one stream; `expired` is told once the agent was silent for too long. */
export function createIdleTimer(
  target: UpstreamTarget,
  expired: (error: CountersignError) => void,
): IdleTimer {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    start: () => {
      stop();
      timer = setTimeout(() => {
        expired(
          new CountersignError("ERR_UPSTREAM_TIMEOUT", `agent ${target.name} fell silent`, {
            agent: target.name,
            phase: "idle",
            milliseconds: target.idleTimeoutMs,
          }),
        );
      }, target.idleTimeoutMs);
    },
    stop,
  };
}
