import { CountersignError } from "@countersign/core";
import type { AgUiEvent, Message, RunAgentInput } from "@countersign/wire";
import { UI_RENDER_HINT_NAME } from "@countersign/wire/dialects";
import "./errors.js";

/** UTF-8 bytes of a UTF-16 unit, at most. */
const BYTES_A_UNIT = 3;

/** The members of events and messages that name something; receipts and the log repeat several of them. */
const IDENTIFIERS: ReadonlySet<string> = new Set([
  "messageId",
  "toolCallId",
  "toolCallName",
  "threadId",
  "runId",
  "parentRunId",
  "subagentRunId",
  "parentSubagentRunId",
  "parentToolCallId",
  "parentMessageId",
  "activityType",
  "stepName",
  "entityId",
  "interruptId",
  "name",
  "source",
  "id",
]);

/**
 * Refuses an event one of whose ids or names is longer than the limit.
 *
 * Without it an agent could make entries that the log has to refuse: a decision without its receipt.
 */
export function assertEventIdentifiers(event: AgUiEvent, limit: number): void {
  assertMembers(event, limit);
  if (event.type === "MESSAGES_SNAPSHOT") assertMessages(event.messages, limit);
  else if (event.type === "CUSTOM" && event.name === UI_RENDER_HINT_NAME) {
    // What a hint renders is what the receipt calls its component.
    const { component } = (event.value ?? {}) as { component?: unknown };
    assertLength("component", component, limit);
  } else if (event.type === "RUN_STARTED" && event.input !== undefined) {
    assertInputIdentifiers(event.input, limit);
  } else if (event.type === "RUN_FINISHED" || event.type === "SUBAGENT_FINISHED") {
    const { outcome } = event;
    if (outcome === undefined || !("interrupts" in outcome)) return;
    for (const interrupt of outcome.interrupts) {
      assertMembers(interrupt, limit);
      // The kind of question is what the receipt calls its component.
      assertLength("reason", interrupt.reason, limit);
    }
  }
}

/** Refuses an input one of whose ids or names is longer than the limit. */
export function assertInputIdentifiers(input: RunAgentInput, limit: number): void {
  assertMembers(input, limit);
  assertMessages(input.messages, limit);
  assertEach(input.tools, limit);
  assertEach(input.resume, limit);
}

function assertMessages(messages: readonly Message[] | undefined, limit: number): void {
  for (const message of messages ?? []) {
    assertMembers(message, limit);
    if (!("toolCalls" in message)) continue;
    for (const call of message.toolCalls ?? []) {
      assertMembers(call, limit);
      assertMembers(call.function, limit);
    }
  }
}

function assertEach(items: readonly object[] | undefined, limit: number): void {
  for (const item of items ?? []) assertMembers(item, limit);
}

/** Looks at the members that are there: an event has four, the list of names has seventeen. */
function assertMembers(holder: object, limit: number): void {
  const members = holder as Readonly<Record<string, unknown>>;
  for (const member in members) {
    const value = members[member];
    if (typeof value !== "string" || isShort(value, limit) || !IDENTIFIERS.has(member)) continue;
    assertLength(member, value, limit);
  }
}

function assertLength(member: string, value: unknown, limit: number): void {
  if (typeof value !== "string" || isShort(value, limit)) return;
  if (Buffer.byteLength(value) <= limit) return;
  const facts = { member, limit };
  throw new CountersignError("ERR_ID_TOO_LONG", `${member} is over ${limit} bytes`, facts);
}

/** Whether a text is within the limit whatever its letters are; databases count bytes. */
function isShort(value: string, limit: number): boolean {
  return value.length * BYTES_A_UNIT <= limit;
}
