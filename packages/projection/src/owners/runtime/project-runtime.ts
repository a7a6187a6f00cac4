import { CountersignError } from "@countersign/core";
import "../../base/errors.js";
import type { RecordedEvent } from "../../ledger/event.js";
import type { Disclosure } from "../../safe/disclosure.js";
import { PayloadReader } from "../payload-reader.js";
import {
  readCompletedAfterTools,
  readHistoryCompacted,
  readRekeyed,
} from "./maintenance-events.js";
import { readModelRequested, readModelResponse } from "./model-events.js";
import {
  readChatIngested,
  readRunAborted,
  readRunCompleted,
  readRunInterrupted,
  readRunResumed,
  readRunStarted,
} from "./run-events.js";
import { readToolExecuted, readToolRejected } from "./tool-events.js";

/** The owner of the runtime's own facts. */
export const RUNTIME_OWNER = "@agent-os/runtime";

const READERS = {
  "agent.run.started": (reader: PayloadReader, event: RecordedEvent) =>
    readRunStarted(reader, event.id),
  "agent.run.interrupted": readRunInterrupted,
  "agent.run.resumed": readRunResumed,
  "agent.run.completed": readRunCompleted,
  "chat.ingested": readChatIngested,
  "llm.requested": readModelRequested,
  "llm.response": readModelResponse,
  "tool.executed": readToolExecuted,
  "tool.rejected": readToolRejected,
  "runtime.completed_after_tools": readCompletedAfterTools,
  "runtime.history_compacted": readHistoryCompacted,
  "runtime.rekeyed": readRekeyed,
} as const;

/** The reasons to abort a run, each an outcome or a failure. */
export const ABORT_KINDS = {
  budget_tokens: "outcome",
  budget_time: "outcome",
  client_disconnect: "outcome",
  cancelled: "outcome",
  expired: "outcome",
  rejected: "outcome",
  tool_error: "failure",
  upstream_failure: "failure",
  retries: "failure",
} as const;

/** One reason to abort a run. */
export type AbortKind = keyof typeof ABORT_KINDS;

type Readers = typeof READERS;
/** The safe payload of each kind of runtime event. */
export type RuntimePayloads = { [Kind in keyof Readers]: ReturnType<Readers[Kind]> } & {
  "agent.aborted": ReturnType<typeof readRunAborted>;
};
/** A kind of runtime event that produces frames; all aborts are one kind. */
export type RuntimeKind = keyof RuntimePayloads;

/**
 * Known runtime facts that do not concern readers of a stream: materials, submissions, deliveries.
 */
const INTERNAL = new Set([
  "agent.material.resolved",
  "agent_session.turn_submitted",
  "workflow.run_submitted",
  "product.run_linked",
  "ingress.delivery_requested",
  "ingress.delivery_accepted",
  "ingress.delivery_failed",
  "schedule.fire_requested",
  "schedule.fire_dispatched",
  "schedule.fire_failed",
]);

/** The table entry of a kind. */
export function runtimeKind(kind: string): RuntimeKind | undefined {
  if (Object.hasOwn(READERS, kind)) return kind as RuntimeKind;
  const abort = kind.startsWith("agent.aborted.") ? kind.slice("agent.aborted.".length) : "";
  return Object.hasOwn(ABORT_KINDS, abort) ? "agent.aborted" : undefined;
}

/**
 * The safe payload of a runtime event; `undefined` for facts that stay inside.
 *
 * @throws CountersignError `ERR_PROJECTION_MALFORMED_PAYLOAD` or `ERR_PROJECTION_UNKNOWN_KIND`
 */
export function projectRuntimeEvent(
  event: RecordedEvent,
  disclosure: Disclosure,
): RuntimePayloads[RuntimeKind] | undefined {
  if (INTERNAL.has(event.kind)) return undefined;
  const kind = runtimeKind(event.kind);
  if (kind === undefined) {
    throw new CountersignError("ERR_PROJECTION_UNKNOWN_KIND", "unknown kind of runtime event", {});
  }
  const reader = new PayloadReader(event.payload, event.kind, disclosure);
  return kind === "agent.aborted"
    ? readRunAborted(reader, event.kind)
    : READERS[kind](reader, event);
}
