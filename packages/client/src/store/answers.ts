import { CountersignError } from "@countersign/core";
import type { ErrorFacts } from "@countersign/core";
import type { ContentPart, Interrupt, ResumeEntry, ToolMessage } from "@countersign/wire";
import type { RunView } from "@countersign/wire/reduce";
import "../base/errors.js";
import type { MintId } from "../base/ids.js";

/**
 * Checks that the entries cover the open interrupts. AG-UI 1.0 has the consumer check before it
 * sends: an omitted interrupt stays open, and an expired one can only be cancelled.
 *
 * @param unseen ids of further open interrupts, which the gateway reported
 */
export function assertCovers(
  interrupts: readonly Interrupt[],
  answers: readonly ResumeEntry[],
  now: number,
  unseen: readonly string[] = [],
): void {
  const open = new Map<string, Pick<Interrupt, "expiresAt">>(unseen.map((id) => [id, {}]));
  for (const interrupt of interrupts) open.set(interrupt.id, interrupt);
  const answered = new Set<string>();
  for (const { interruptId, status } of answers) {
    const interrupt = open.get(interruptId);
    if (interrupt === undefined) throw interruptsError("unknown");
    if (answered.has(interruptId)) throw interruptsError("repeated");
    if (status === "resolved" && isExpired(interrupt, now)) throw interruptsError("expired");
    answered.add(interruptId);
  }
  if (answered.size < open.size) throw interruptsError("missing");
}

/** Throws while interrupts are open. */
export function assertNoneOpen(interrupts: readonly Interrupt[]): void {
  if (interrupts.length > 0) throw interruptsError("open");
}

/** Whether the interrupt has expired; an unreadable time never has. */
export function isExpired({ expiresAt }: Pick<Interrupt, "expiresAt">, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now;
}

const REASONS: Readonly<Record<ErrorFacts["ERR_CLIENT_INTERRUPTS"]["reason"], string>> = {
  missing: "an open question of the agent has no answer",
  unknown: "an answer is for a question that is not open",
  repeated: "a question has two answers",
  expired: "the time to answer a question is over",
  open: "the agent waits for an answer; call resume() with it",
};

function interruptsError(
  reason: ErrorFacts["ERR_CLIENT_INTERRUPTS"]["reason"],
): CountersignError<"ERR_CLIENT_INTERRUPTS"> {
  return new CountersignError(
    "ERR_CLIENT_INTERRUPTS",
    `the answers do not fit the open interrupts: ${REASONS[reason]}`,
    { reason },
  );
}

/** The result of the application's own tool. */
export type ToolResult = {
  readonly toolCallId: string;
  readonly content: string | ContentPart[];
  readonly error?: string;
};

/**
 * Builds the tool messages for the results, which must cover the pending calls. A call of the
 * conversation without a result is accepted too: a run that ended in an error lists no pending
 * call, and neither does one that only restated the call.
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
  if (answers.some(({ toolCallId }) => !open.has(toolCallId))) throw toolCallsError("unknown");
  if (given.size < answers.length) throw toolCallsError("repeated");
  if (given.size < pending.length) throw toolCallsError("missing");
  return answers.map(({ toolCallId, content, error }) => ({
    id: mintId("message"),
    role: "tool",
    toolCallId,
    content,
    ...(error === undefined ? {} : { error }),
  }));
}

function toolCallsError(
  reason: ErrorFacts["ERR_CLIENT_TOOL_CALLS"]["reason"],
): CountersignError<"ERR_CLIENT_TOOL_CALLS"> {
  return new CountersignError(
    "ERR_CLIENT_TOOL_CALLS",
    `the answers do not fit the calls that wait: ${reason}`,
    { reason },
  );
}
