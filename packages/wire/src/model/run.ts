import type { JsonObject } from "@countersign/core";

/** A question to the person that closes the run until it is answered. */
export type Interrupt = {
  id: string;
  reason: string;
  message?: string;
  toolCallId?: string;
  responseSchema?: JsonObject;
  expiresAt?: string;
  metadata?: JsonObject;
  subagentRunId?: string;
};

/** How a run ended; absent means success. */
export type RunFinishedOutcome =
  | { type: "success"; pendingToolCallIds?: string[] }
  | { type: "interrupt"; interrupts: Interrupt[] }
  | { type: "cancelled" };

/** How a subagent's invocation ended; absent means success. */
export type SubagentFinishedOutcome =
  | { type: "success" }
  | { type: "suspended"; interruptIds?: string[] };

/** Tokens one model used; absent is not zero. */
export type TokenUsage = {
  provider?: string;
  model?: string;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  reasoningTokens?: number;
  cachedInputTokens?: number;
  cacheWriteInputTokens?: number;
};
