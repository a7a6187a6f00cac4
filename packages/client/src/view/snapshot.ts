import type { ProblemDetails } from "../base/problem-details.js";
import type { JsonValue } from "@countersign/core";
import type { Interrupt, Message, TokenUsage } from "@countersign/wire";
import type { StepView, SubagentView } from "@countersign/wire/reduce";
import type { BlockedNotice } from "./notice.js";
import type { ReceiptCounts } from "./receipts.js";
import type { RenderHintView } from "./render-hint.js";

/**
 * What a UI shows about the conversation.
 *
 * - `idle`: nothing was asked yet.
 * - `connecting`: a run was asked for and the agent has not answered.
 * - `streaming`: the agent is at work.
 * - `reconnecting`: the stream broke and is being taken up, or the agent asked to come back later.
 * - `stopping`: a stop was asked for and the agent is closing what is open.
 * - `waiting`: the run ended with questions to the person (`interrupts`).
 * - `done`: the agent finished.
 * - `stopped`: the run was stopped, by the person or by the agent's side; neither success nor failure.
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
  /** One of our codes, or the one that the agent or gateway gave, or `RUN_ERROR` when it gave none. */
  readonly code: string;
  /** For a person. The words of the other side when `source` is `agent`: show them as text, trust them as little. */
  readonly message: string;
  readonly source: "agent" | "client";
  /** The HTTP status, also the one that a gateway tells on a socket, or the close code; when no stream began and there was an answer. */
  readonly status?: number;
};

/** All that a UI needs, at one moment. Never altered: a change gives a new one that shares the rest. */
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
  /** Questions to the person, to be answered by `resume`. */
  readonly interrupts: readonly Interrupt[];
  /** Calls that the application must answer by `answer`. */
  readonly pendingToolCallIds: readonly string[];
  readonly usage: readonly TokenUsage[];
  readonly renderHints: readonly RenderHintView[];
  /** What a gateway told it kept back, the newest 1,000 of the conversation. */
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
