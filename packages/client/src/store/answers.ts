import { CountersignError } from "@countersign/core";
import type { ErrorFacts } from "@countersign/core";
import type { ContentPart, Interrupt, ResumeEntry, ToolMessage } from "@countersign/wire";
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
export type ToolAnswer = {
  readonly toolCallId: string;
  readonly content: string | ContentPart[];
  readonly error?: string;
};

/** The tool messages for the answers, which must cover the calls that wait. */
export function toolMessages(
  pending: readonly string[],
  answers: readonly ToolAnswer[],
  mintId: MintId,
): ToolMessage[] {
  const given = new Set(answers.map(({ toolCallId }) => toolCallId));
  if (answers.some(({ toolCallId }) => !pending.includes(toolCallId))) throw unfit("unknown");
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
