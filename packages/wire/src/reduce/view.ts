import type { JsonValue } from "@countersign/core";
import type { Message } from "../model/message.js";
import type { Interrupt, TokenUsage } from "../model/run.js";

/**
 * How the current run stands.
 *
 * `cancelled` is neither success nor failure, and `running` stays `running` when a stream is cut:
 * no run that the agent did not finish looks finished.
 */
export type RunStatus = "idle" | "running" | "finished" | "interrupted" | "cancelled" | "failed";

/** A step of the current run. */
export type StepView = {
  readonly name: string;
  readonly subagentRunId?: string;
  readonly status: "running" | "finished";
};

/** One invocation of a subagent in the current run. */
export type SubagentView = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly parentSubagentRunId?: string;
  readonly parentToolCallId?: string;
  readonly parentMessageId?: string;
  readonly status: "running" | "finished" | "suspended" | "failed";
  readonly error?: { readonly message: string; readonly code?: string };
};

/**
 * The result of reducing a stream of events. Immutable: a change gives a new view that shares the
 * rest.
 */
export type RunView = {
  readonly threadId?: string;
  readonly runId?: string;
  readonly status: RunStatus;
  /** Why the run failed. */
  readonly error?: { readonly message: string; readonly code?: string };
  /** The result of the run. */
  readonly result?: JsonValue;
  /** The conversation; activities are messages of role `activity`. */
  readonly messages: readonly Message[];
  readonly state: JsonValue;
  readonly steps: readonly StepView[];
  readonly subagents: readonly SubagentView[];
  /** Questions that the next input must answer. */
  readonly pendingInterrupts: readonly Interrupt[];
  /** Calls of the finished run that the application must answer. */
  readonly pendingToolCallIds: readonly string[];
  /** Tokens of the current run, as its terminal event told. */
  readonly usage: readonly TokenUsage[];
};
