import { isCountersignError } from "@countersign/core";
import { problemOf } from "../clients/refusal.js";
import type { Run } from "../pipeline/run.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { RunHandle } from "../sessions/session.js";
import type { OpenRun } from "./telemetry.js";

/** Follows one run from the agent's answer to its end. */
export type RunWatch = {
  /** What the agent is told of the trace; nothing when traces are off. */
  readonly traceparent: string | undefined;
  /** The agent has answered. */
  opened(run: Run): void;
  /** The run is over: one line in the log, one span. */
  ended(): void;
};

/** Starts to watch a run that was admitted. */
export function watchRun(
  around: Surroundings,
  handle: RunHandle,
  policyHash: string,
  traceparent: string | undefined,
): RunWatch {
  const { telemetry, journal } = around;
  const { agent, runId, threadId, transport, startedAt, counters } = handle;
  const span = telemetry.tracer?.start({
    agent,
    threadId,
    runId,
    transport,
    policyHash,
    startedAt,
    traceparent,
  });
  let open: OpenRun | undefined;
  return {
    traceparent: span?.traceparent,
    opened: ({ backlog, sink }) => {
      open = { transport, backlog, sink };
      telemetry.openRuns.add(open);
      telemetry.runsStarted.add(agent);
    },
    ended: () => {
      if (open !== undefined) telemetry.openRuns.delete(open);
      telemetry.runsEnded.add(agent, handle.status);
      const endedAt = handle.endedAt ?? around.clock.now();
      const { status: state, failure } = handle;
      const { forwarded, blocked } = counters;
      journal.info(
        {
          agent,
          run: runId,
          transport,
          state,
          ...(failure === undefined ? {} : { code: failure }),
          forwarded,
          blocked,
          milliseconds: Math.max(0, endedAt - startedAt),
        },
        "run ended",
      );
      span?.end({ state, forwarded, blocked, endedAt, failure });
    },
  };
}

/** Refusals on their way from where they arose to where they are answered; each counts once. */
const noted = new WeakSet<object>();

/** Counts and logs what a client was refused, once; never with what it sent. */
export function noteRefusal(around: Surroundings, error: unknown, agent?: string): void {
  if (typeof error === "object" && error !== null) {
    if (noted.has(error)) return;
    noted.add(error);
  }
  const { code, receipt } = problemOf(error);
  around.telemetry.refusals.add(code);
  if (code.startsWith("ERR_ACCESS_")) around.telemetry.accessFailures.add(code);
  const facts = {
    code,
    ...(agent === undefined ? {} : { agent }),
    ...(isCountersignError(error, "ERR_ACCESS_TOKEN") ? { reason: error.facts.reason } : {}),
    ...(receipt === undefined ? {} : { receipt }),
  };
  // What is not coded is a defect of ours: only its kind is told, its words could hold anything.
  if (isCountersignError(error)) around.journal.warn(facts, "refused");
  else around.journal.error({ ...facts, kind: nameOf(error) }, "defect");
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
