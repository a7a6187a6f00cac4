import { isCountersignError } from "@countersign/core";
import { receiptOf } from "../inbound/refusal-log.js";
import type { GatewayContext } from "./gateway-context.js";
import type { RunHandle } from "../sessions/sessions.js";
import type { OpenRun } from "../telemetry/telemetry.js";
import type { RunSpan } from "../telemetry/tracer.js";

/** Traces and logs one run from its admission to its end. */
export class RunWatch {
  readonly #context: GatewayContext;
  readonly #handle: RunHandle;
  readonly #span: RunSpan | undefined;
  #open: OpenRun | undefined;

  /** Starts with an admitted run. */
  constructor(
    context: GatewayContext,
    handle: RunHandle,
    policyHash: string,
    traceparent: string | undefined,
  ) {
    this.#context = context;
    this.#handle = handle;
    const { agent, runId, threadId, transport, startedAt } = handle;
    this.#span = context.telemetry.tracer?.start({
      agent,
      threadId,
      runId,
      transport,
      policyHash,
      startedAt,
      traceparent,
    });
  }

  /** The trace header for the agent; `undefined` when traces are off. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** Called when the agent has responded. */
  opened(run: OpenRun): void {
    const { telemetry } = this.#context;
    this.#open = run;
    telemetry.openRuns.add(run);
    telemetry.runsStarted.add(this.#handle.agent);
  }

  /** Called at the end of the run: writes one log line and one span. */
  ended(): void {
    const { telemetry, journal, clock } = this.#context;
    const { agent, runId, transport, startedAt, counters, status: state, failure } = this.#handle;
    if (this.#open !== undefined) telemetry.openRuns.delete(this.#open);
    telemetry.runsEnded.add(agent, state);
    const endedAt = this.#handle.endedAt ?? clock.now();
    const { forwarded, blocked } = counters;
    const { blockedBy, wouldBlockBy, repaired } = this.#handle;
    journal.info(
      {
        agent,
        run: runId,
        transport,
        state,
        ...(failure === undefined ? {} : { code: failure }),
        forwarded,
        blocked,
        ...(blockedBy === undefined ? {} : { blocked_by: blockedBy.join(" ") }),
        ...(wouldBlockBy === undefined ? {} : { noted_by: wouldBlockBy.join(" ") }),
        ...(repaired === undefined ? {} : { repaired: repaired.join(" ") }),
        milliseconds: Math.max(0, endedAt - startedAt),
      },
      "run ended",
    );
    this.#span?.end({ state, forwarded, blocked, endedAt, failure });
  }
}

/** Errors that were counted already, since an error passes through several handlers. */
const noted = new WeakSet<object>();

/** Counts and logs a rejected request once, without its content. */
export function noteRefusal(context: GatewayContext, error: unknown, agent?: string): void {
  if (typeof error === "object" && error !== null) {
    if (noted.has(error)) return;
    noted.add(error);
  }
  const code = isCountersignError(error) ? error.code : "INTERNAL";
  const receipt = receiptOf(error);
  context.telemetry.refusals.add(code);
  if (code.startsWith("ERR_ACCESS_")) context.telemetry.accessFailures.add(code);
  const facts = {
    code,
    ...(agent === undefined ? {} : { agent }),
    ...(isCountersignError(error, "ERR_ACCESS_TOKEN") ? { reason: error.facts.reason } : {}),
    ...(receipt === undefined ? {} : { receipt }),
  };
  // An error without a code is a defect of the gateway. Only its kind is logged: its message could contain anything.
  if (isCountersignError(error)) context.journal.warn(facts, "refused");
  else context.journal.error({ ...facts, kind: nameOf(error) }, "defect");
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
