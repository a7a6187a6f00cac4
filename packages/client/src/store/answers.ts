import { CountersignError } from "@countersign/core";
import type { ErrorFacts } from "@countersign/core";
import type { ContentPart, Interrupt, ResumeEntry, ToolMessage } from "@countersign/wire";
import type { RunView } from "@countersign/wire/reduce";
import "../base/errors.js";
import type { MintId } from "../base/ids.js";

/**
 * Refuses answers that do not cover the open interrupts (AG-UI 1.0: the consumer checks before it sends;
 * leaving one out does not give it up, and an expired one can only be cancelled).
 */
export function assertCovers(
  interrupts: readonly Interrupt[],
  answers: readonly ResumeEntry[],
  now: number,
): void {
  const open = new Map(interrupts.map((interrupt) => [interrupt.id, interrupt]));
  const answered = new Set<string>();
  for (const { interruptId, status } of answers) {
    const interrupt = open.get(interruptId);
    if (interrupt === undefined) throw misfit("unknown");
    if (answered.has(interruptId)) throw misfit("repeated");
    if (status === "resolved" && isExpired(interrupt, now)) throw misfit("expired");
    answered.add(interruptId);
  }
  if (answered.size < open.size) throw misfit("missing");
}

/** Refuses to go on while questions are open. */
export function assertNoneOpen(interrupts: readonly Interrupt[]): void {
  if (interrupts.length > 0) throw misfit("open");
}

/** Whether the time to answer is over; a time that cannot be read never is. */
export function isExpired({ expiresAt }: Interrupt, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now;
}

function misfit(
  reason: ErrorFacts["ERR_CLIENT_INTERRUPTS"]["reason"],
): CountersignError<"ERR_CLIENT_INTERRUPTS"> {
  return new CountersignError(
    "ERR_CLIENT_INTERRUPTS",
    `the answers do not fit the open interrupts: ${reason}`,
    { reason },
  );
}

/** What the application's own tool gave back. */
export type ToolResult = {
  readonly toolCallId: string;
  readonly content: string | ContentPart[];
  readonly error?: string;
};

/**
 * The tool messages for the answers, which must cover the calls that wait. A call of the conversation without a result may be
 * answered too: a run that ended in an error names no call that waits, and neither does one that only listed the call.
 */
export function toolMessages(
  { pendingToolCallIds: pending, messages }: Pick<RunView, "pendingToolCallIds" | "messages">,
  answers: readonly ToolResult[],
  mintId: MintId,
): ToolMessage[] {
  const given = new Set(answers.map(({ toolCallId }) => toolCallId));
  const open = new Set(pending);
  for (const message of messages) {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) open.add(id);
  }
  for (const message of messages) if (message.role === "tool") open.delete(message.toolCallId);
  if (answers.some(({ toolCallId }) => !open.has(toolCallId))) throw unfit("unknown");
  if (given.size < answers.length) throw unfit("repeated");
  if (given.size < pending.length) throw unfit("missing");
  return answers.map(({ toolCallId, content, error }) => ({
    id: mintId("message"),
    role: "tool",
    toolCallId,
    content,
    ...(error === undefined ? {} : { error }),
  }));
}

function unfit(
  reason: ErrorFacts["ERR_CLIENT_TOOL_CALLS"]["reason"],
): CountersignError<"ERR_CLIENT_TOOL_CALLS"> {
  return new CountersignError(
    "ERR_CLIENT_TOOL_CALLS",
    `the answers do not fit the calls that wait: ${reason}`,
    { reason },
  );
}
