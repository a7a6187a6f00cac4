import type { ProblemDetails } from "../base/problem-details.js";
import type { JsonValue } from "@countersign/core";
import type { Interrupt, Message, TokenUsage } from "@countersign/wire";
import type { StepView, SubagentView } from "@countersign/wire/reduce";
import type { BlockedNotice } from "./notice.js";
import type { ReceiptCounts } from "./receipts.js";
import type { RenderHintView } from "./render-hint.js";

/**
 * The status of the conversation.
 *
 * - `idle`: no run was requested yet.
 * - `connecting`: a run was requested and the agent has not responded.
 * - `streaming`: the agent is sending events.
 * - `reconnecting`: the client is resuming a broken stream, or waits because the agent asked it to.
 * - `stopping`: a stop was requested and the agent is closing open messages.
 * - `waiting`: the run ended with `interrupts` for the person.
 * - `done`: the agent finished.
 * - `stopped`: the person or the agent stopped the run; neither success nor failure.
 * - `failed`: see `problem`.
 */
export type AgentStatus =
  | "idle"
  | "connecting"
  | "streaming"
  | "reconnecting"
  | "stopping"
  | "waiting"
  | "done"
  | "stopped"
  | "failed";

/** Why a run failed. */
export type Problem = ProblemDetails & {
  /** One of our codes, the agent's or gateway's code, or `RUN_ERROR` without one. */
  readonly code: string;
  /** For a person. The agent or gateway wrote it when `source` is `agent`: display it as plain text. */
  readonly message: string;
  readonly source: "agent" | "client";
  /** The HTTP status or the WebSocket close code, when a response came before any stream. */
  readonly status?: number;
};

/** The complete state for a UI. Immutable: a change gives a new snapshot that shares the rest. */
export type AgentSnapshot = {
  readonly status: AgentStatus;
  readonly problem?: Problem | undefined;
  readonly threadId: string;
  readonly runId?: string | undefined;
  /** The conversation; activities are messages of role `activity`. */
  readonly messages: readonly Message[];
  readonly state: JsonValue;
  readonly result?: JsonValue | undefined;
  readonly steps: readonly StepView[];
  readonly subagents: readonly SubagentView[];
  /** Interrupts for the person; `resume` resolves them. */
  readonly interrupts: readonly Interrupt[];
  /** Calls of the application's own tools; `answer` sends their results. */
  readonly pendingToolCallIds: readonly string[];
  readonly usage: readonly TokenUsage[];
  readonly renderHints: readonly RenderHintView[];
  /** The gateway's notices of blocked events, the newest 1,000 of the conversation. */
  readonly notices: readonly BlockedNotice[];
  readonly receipts: ReceiptCounts;
};

/** The names in a snapshot, for bindings that make a property of each. */
export const SNAPSHOT_KEYS = [
  "status",
  "problem",
  "threadId",
  "runId",
  "messages",
  "state",
  "result",
  "steps",
  "subagents",
  "interrupts",
  "pendingToolCallIds",
  "usage",
  "renderHints",
  "notices",
  "receipts",
] as const satisfies readonly (keyof AgentSnapshot)[];

/** Whether a run is under way, so that `send` must wait and `stop` makes sense. */
export function isBusy(status: AgentStatus): boolean {
  return (
    status === "connecting" ||
    status === "streaming" ||
    status === "reconnecting" ||
    status === "stopping"
  );
}
