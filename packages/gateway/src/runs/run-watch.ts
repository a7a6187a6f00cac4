import { isCountersignError } from "@countersign/core";
import { receiptOf } from "../inbound/refusal-log.js";
import type { GatewayContext } from "./gateway-context.js";
import type { ClientIdentity } from "../event/client-identity.js";
import type { RunHandle } from "../sessions/sessions.js";
import type { OpenRun } from "../telemetry/telemetry.js";
import type { RunSpan } from "../telemetry/tracer.js";

/** Traces and logs one run from its admission to its end. */
export class RunWatch {
  readonly #context: GatewayContext;
  readonly #handle: RunHandle;
  readonly #session: string;
  readonly #span: RunSpan | undefined;
  #open: OpenRun | undefined;

  /** Starts with an admitted run. */
  constructor(
    context: GatewayContext,
    handle: RunHandle,
    { session, policyHash, traceparent }: AdmittedRun,
  ) {
    this.#context = context;
    this.#handle = handle;
    this.#session = session;
    const { agent, client, runId, threadId, transport, startedAt } = handle;
    this.#span = context.telemetry.tracer?.start({
      agent,
      client,
      session,
      threadId,
      runId,
      transport,
      policyHash,
      startedAt,
      traceparent,
    });
    if (this.#span !== undefined) handle.trace = this.#span.ids;
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
    const { agent, transport, startedAt, counters, status: state, failure } = this.#handle;
    if (this.#open !== undefined) telemetry.openRuns.delete(this.#open);
    if (state === "finished") telemetry.agents.succeeded(agent, clock.now());
    else if (state === "failed") {
      telemetry.agents.failed(agent, clock.now(), failure ?? "RUN_ERROR", "the run failed");
    }
    telemetry.runsEnded.add(agent, state);
    const endedAt = this.#handle.endedAt ?? clock.now();
    const { forwarded, blocked } = counters;
    const { blockedBy, wouldBlockBy, repaired } = this.#handle;
    journal.info(
      {
        ...runFacts(this.#session, this.#handle),
        transport,
        state,
        ...(failure === undefined ? {} : { code: failure }),
        forwarded,
        blocked,
        ...(blockedBy === undefined ? {} : { blocked_by: blockedBy.join(" ") }),
        ...(wouldBlockBy === undefined ? {} : { would_block_by: wouldBlockBy.join(" ") }),
        ...(repaired === undefined ? {} : { repaired: repaired.join(" ") }),
        milliseconds: Math.max(0, endedAt - startedAt),
        ...this.#span?.ids,
      },
      "run ended",
    );
    this.#span?.end({ state, forwarded, blocked, endedAt, failure });
  }
}

/** The facts of an admitted run that its handle does not have. */
type AdmittedRun = {
  readonly session: string;
  readonly policyHash: string;
  readonly traceparent: string | undefined;
};

/** The names of a run in a log line: agent, client, session, thread and run. */
export function runFacts(session: string, { agent, client, threadId, runId }: RunHandle): object {
  return { agent, ...client, session, thread: threadId, run: runId };
}

/** The client and the place of a refused request, as far as they are known. */
export type RefusalFacts = ClientIdentity & {
  readonly agent?: string;
  readonly session?: string;
  readonly thread?: string;
  readonly run?: string;
  /** The path of the request without its query, which may contain a ticket. */
  readonly path?: string;
};

/** Errors that were counted already, since an error passes through several handlers. */
const noted = new WeakSet<object>();

/** Counts and logs a rejected request once, with its client and its place, and without its content. */
export function noteRefusal(
  context: GatewayContext,
  error: unknown,
  client: RefusalFacts = {},
): void {
  if (typeof error === "object" && error !== null) {
    if (noted.has(error)) return;
    noted.add(error);
  }
  const code = isCountersignError(error) ? error.code : "INTERNAL";
  const receipt = receiptOf(error);
  context.telemetry.refusals.add(code);
  if (client.agent !== undefined && isCountersignError(error) && code.startsWith("ERR_UPSTREAM_")) {
    context.telemetry.agents.failed(client.agent, context.clock.now(), code, error.message);
  }
  if (code.startsWith("ERR_ACCESS_")) context.telemetry.accessFailures.add(code);
  const facts = {
    code,
    ...client,
    ...(isCountersignError(error, "ERR_ACCESS_TOKEN") ? { reason: error.facts.reason } : {}),
    ...(isCountersignError(error, "ERR_INBOUND_BLOCKED") ? { rule: error.facts.rule } : {}),
    ...(receipt === undefined ? {} : { receipt }),
  };
  // An error without a code is a defect of the gateway. Only its kind is logged: its message could contain anything.
  if (isCountersignError(error)) context.journal.warn(facts, "refused");
  else context.journal.error({ ...facts, kind: nameOf(error) }, "defect");
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
