import { CountersignError } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import "../errors.js";

/** Follows the runs of one stream, and refuses what would make one look other than it was. */
export type Lifecycle = {
  /** Throws `ERR_CLIENT_ORDER` on an event that no run can contain. */
  push(event: AgUiEvent): void;
  /** Whether the run that was asked for has ended. */
  readonly over: boolean;
  /** How many events came. */
  readonly events: number;
};

/**
 * The rules about the life of a run, which decide what a person is told: a stream opens with a run, runs
 * do not overlap, nothing comes after the end, an end names its run and the thread is the one asked for.
 *
 * Whether messages and calls inside are in order is left to `@countersign/client/order`; without it,
 * what refers to nothing is ignored.
 */
export function createLifecycle(input: RunAgentInput): Lifecycle {
  let phase: "none" | "active" | "finished" | "failed" = "none";
  let runId: string | undefined;
  let events = 0;
  let over = false;

  function refuse(rule: string): never {
    throw new CountersignError("ERR_CLIENT_ORDER", `event ${events} breaks ${rule}`, {
      rule,
      eventNumber: events,
    });
  }

  return {
    push(event) {
      events += 1;
      const { type } = event;
      if (type === "RUN_STARTED") {
        if (phase === "active") refuse("run/nested-start");
        if (event.threadId !== input.threadId) refuse("run/thread-of-input");
        phase = "active";
        runId = event.runId;
      } else if (type === "RUN_ERROR") {
        if (phase === "failed") refuse("run/after-error");
        over ||= phase === "none" || runId === input.runId;
        phase = "failed";
      } else if (phase === "none") refuse("run/first-event");
      else if (phase === "finished") refuse("run/after-finish");
      else if (phase === "failed") refuse("run/after-error");
      else if (type === "RUN_FINISHED") {
        if (event.runId !== runId || event.threadId !== input.threadId) refuse("run/finish-ids");
        phase = "finished";
        over ||= runId === input.runId;
      }
    },
    get over() {
      return over;
    },
    get events() {
      return events;
    },
  };
}
