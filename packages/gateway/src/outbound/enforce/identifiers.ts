import { CountersignError, hasControlCharacter } from "@countersign/core";
import type {
  AgUiEvent,
  Message,
  RunAgentInput,
  RunFinishedOutcome,
  SubagentFinishedOutcome,
  UserMessage,
} from "@countersign/wire";
import { UI_RENDER_HINT_NAME } from "@countersign/wire/dialects";
import "../../base/errors.js";

/** The most UTF-8 bytes of one UTF-16 code unit. */
const BYTES_A_UNIT = 3;

/** The members that hold ids: no content rule reads them, and a page may show one in an error. */
const IDS: ReadonlySet<string> = new Set([
  "messageId",
  "toolCallId",
  "threadId",
  "runId",
  "parentRunId",
  "subagentRunId",
  "parentSubagentRunId",
  "parentToolCallId",
  "parentMessageId",
  "entityId",
  "interruptId",
  "id",
  "pendingToolCallIds",
  "interruptIds",
]);

/** The members of events and messages that hold an id, a name or a code; receipts and the log repeat several of them. */
const IDENTIFIERS: ReadonlySet<string> = new Set([
  ...IDS,
  "toolCallName",
  "activityType",
  "stepName",
  "name",
  "source",
  "code",
  "protocolVersion",
  "reason",
  "expiresAt",
  "provider",
  "model",
  "mimeType",
]);
/** The start of a tag, of a Markdown link or of an image. Ids of frameworks never contain it. */
const MARKUP = /<[a-z!/?]|\]\(|!\[/i;
/** A Message-ID of a mail. It has neither white space nor a slash, so it is not a tag with attributes. */
const MESSAGE_ID = /^<[^\s<>/]+@[^\s<>/]+>$/;

/**
 * Refuses an event with an id, name or code that is longer than the limit or has a control character.
 *
 * The log would refuse an entry with a longer name, so the decision would have no receipt. A control character changes how a console, a
 * terminal or a page shows the text around it. No content rule reads ids, so markup in an id would be shown unchecked.
 */
export function assertEventIdentifiers(event: AgUiEvent, limit: number): void {
  assertMembers(event, limit);
  switch (event.type) {
    case "MESSAGES_SNAPSHOT":
      return assertMessages(event.messages, limit);
    case "TOOL_CALL_RESULT":
      return assertParts(event.content, limit);
    case "CUSTOM": {
      if (event.name !== UI_RENDER_HINT_NAME) return undefined;
      // The receipt names the component that the hint renders.
      const { component } = (event.value ?? {}) as { component?: unknown };
      return assertIdentifier("component", component, limit);
    }
    case "RUN_STARTED":
      return event.input === undefined ? undefined : assertInputIdentifiers(event.input, limit);
    case "RUN_ERROR":
      return assertEach(event.usage, limit);
    case "RUN_FINISHED":
      assertEach(event.usage, limit);
      return assertOutcome(event.outcome, limit);
    case "SUBAGENT_FINISHED":
      return assertOutcome(event.outcome, limit);
    default:
      return undefined;
  }
}

/** Refuses an input with an id or name that is longer than the limit or has a control character. */
export function assertInputIdentifiers(input: RunAgentInput, limit: number): void {
  assertMembers(input, limit);
  assertMessages(input.messages, limit);
  assertEach(input.tools, limit);
  assertEach(input.resume, limit);
}

function assertOutcome(
  outcome: RunFinishedOutcome | SubagentFinishedOutcome | undefined,
  limit: number,
): void {
  if (outcome === undefined) return;
  if (outcome.type === "interrupt") assertEach(outcome.interrupts, limit);
  const ids =
    outcome.type === "suspended"
      ? outcome.interruptIds
      : "pendingToolCallIds" in outcome
        ? outcome.pendingToolCallIds
        : undefined;
  const member = outcome.type === "suspended" ? "interruptIds" : "pendingToolCallIds";
  for (const id of ids ?? []) assertIdentifier(member, id, limit);
}

function assertMessages(messages: readonly Message[] | undefined, limit: number): void {
  for (const message of messages ?? []) {
    assertMembers(message, limit);
    if (message.role === "tool" || message.role === "user") assertParts(message.content, limit);
    if (!("toolCalls" in message)) continue;
    for (const call of message.toolCalls ?? []) {
      assertMembers(call, limit);
      assertMembers(call.function, limit);
    }
  }
}

function assertParts(content: UserMessage["content"], limit: number): void {
  if (typeof content === "string") return;
  for (const part of content) {
    assertMembers(part, limit);
    if ("source" in part) assertMembers(part.source, limit);
  }
}

function assertEach(items: readonly object[] | undefined, limit: number): void {
  for (const item of items ?? []) assertMembers(item, limit);
}

/** Iterates over the members of the object: an event has four, the list of names has two dozen. */
function assertMembers(holder: object, limit: number): void {
  const members = holder as Readonly<Record<string, unknown>>;
  for (const member in members) {
    if (IDENTIFIERS.has(member)) assertIdentifier(member, members[member], limit);
  }
}

function assertIdentifier(member: string, value: unknown, limit: number): void {
  if (typeof value !== "string") return;
  if (!isShort(value, limit) && Buffer.byteLength(value) > limit) {
    const facts = { member, limit };
    throw new CountersignError("ERR_ID_TOO_LONG", `${member} is longer than ${limit} bytes`, facts);
  }
  const wrong = hasControlCharacter(value)
    ? "has a control character"
    : IDS.has(member)
      ? wrongInId(value)
      : undefined;
  if (wrong === undefined) return;
  throw new CountersignError("ERR_ID_CHARACTERS", `${member} ${wrong}`, { member });
}

function wrongInId(id: string): string | undefined {
  if (MARKUP.test(id) && !MESSAGE_ID.test(id)) return "holds markup";
  return id !== "" && id.trim() === "" ? "is white space" : undefined;
}

/** Whether a text is within the limit for any characters; databases count bytes. */
function isShort(value: string, limit: number): boolean {
  return value.length * BYTES_A_UNIT <= limit;
}
