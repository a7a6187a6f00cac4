import { CountersignError } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import "../base/errors.js";

/**
 * A run finished under another run id than it started with, or than the client requested: some
 * frameworks use ids of their own.
 */
export type FinishNote = { readonly kind: "finishedUnderAnotherId"; readonly path: "/runId" };

/** Tracks the runs of one stream and refuses events that would misrepresent a run. */
export type Lifecycle = {
  /**
   * Throws `ERR_CLIENT_ORDER` on an event that no run can contain; returns a note on a tolerated
   * deviation.
   */
  push(event: AgUiEvent): FinishNote | undefined;
  /**
   * The stream has ended: without `strict`, the only run on it is the requested one, whatever its
   * id.
   */
  end(): FinishNote | undefined;
  /** Whether the requested run has ended. */
  readonly over: boolean;
  /** The number of events. */
  readonly events: number;
};

/**
 * The lifecycle rules that decide a run's status. A stream opens with a run, runs do not overlap,
 * nothing follows the end, and the thread is the requested one. With `strict`, an end must also
 * name the open run; otherwise it ends the open run under any run id.
 *
 * `@countersign/client/order` checks the messages and calls inside a run. Without it, references to
 * unknown ids are ignored.
 */
export function createLifecycle(input: RunAgentInput, strict = false): Lifecycle {
  let phase: "none" | "active" | "finished" | "failed" = "none";
  let runId: string | undefined;
  let events = 0;
  let over = false;
  let runs = 0;

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
        runs += 1;
      } else if (type === "RUN_ERROR") {
        if (phase === "failed") refuse("run/after-error");
        over ||= phase === "none" || runId === input.runId;
        phase = "failed";
      } else if (phase === "none") refuse("run/first-event");
      else if (phase === "finished") refuse("run/after-finish");
      else if (phase === "failed") refuse("run/after-error");
      else if (type === "RUN_FINISHED") {
        const isOther = event.runId !== runId;
        if ((isOther && strict) || event.threadId !== input.threadId) refuse("run/finish-ids");
        phase = "finished";
        over ||= runId === input.runId;
        if (isOther) return { kind: "finishedUnderAnotherId", path: "/runId" };
      }
      return undefined;
    },
    end() {
      if (over || strict || runs !== 1 || phase === "active") return undefined;
      over = true;
      return { kind: "finishedUnderAnotherId", path: "/runId" };
    },
    get over() {
      return over;
    },
    get events() {
      return events;
    },
  };
}
