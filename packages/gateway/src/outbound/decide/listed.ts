import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, Message, ToolCall } from "@countersign/wire";

/** Whether two members of messages are the same JSON value; a missing one is `null`. */
export function sameJson(one: unknown, other: unknown): boolean {
  return canonicalJson((one ?? null) as JsonValue) === canonicalJson((other ?? null) as JsonValue);
}

/** The event that would have streamed a listed message, or opened it. */
export function asStreamed(message: Message): AgUiEvent {
  const { id: messageId, role } = message;
  switch (role) {
    case "tool": {
      const { toolCallId, content } = message;
      return { type: "TOOL_CALL_RESULT", messageId, toolCallId, content };
    }
    case "activity": {
      const { activityType, content } = message;
      return { type: "ACTIVITY_SNAPSHOT", messageId, activityType, content };
    }
    case "reasoning":
      return { type: "REASONING_MESSAGE_START", messageId, role };
    default:
      return { type: "TEXT_MESSAGE_START", messageId, role };
  }
}

/**
 * The events as which a listed message is read, with its metadata and its calls.
 *
 * @param hasText whether the client already has its text
 */
export function eventsOfListed(message: Message, hasText: boolean): AgUiEvent[] {
  const { role, content } = message;
  const calls = role === "assistant" ? (message.toolCalls ?? []) : [];
  const texts = hasText || role === "tool" ? [] : textsOf(content);
  return [
    ...texts.map((text) => textEvent(message, text)),
    ...(role !== "tool" && Array.isArray(content) ? [partsEvent(message)] : []),
    asStreamed(message),
    ...attachedMetadataEvents(message),
    ...calls.flatMap((call) => [
      callStart(call),
      ...argumentsOf(call),
      ...attachedCallEvents(call),
    ]),
  ];
}

/** The event that would have streamed a text of a listed message. */
export function textEvent({ id: messageId, role }: Message, delta: string): AgUiEvent {
  const type = role === "reasoning" ? "REASONING_MESSAGE_CONTENT" : "TEXT_MESSAGE_CONTENT";
  return { type, messageId, delta };
}

/** The content parts of a listed message, read like the content of a result. */
export function partsEvent({ id: messageId, content }: Message): AgUiEvent {
  return { type: "TOOL_CALL_RESULT", messageId, toolCallId: "", content } as AgUiEvent;
}

/** Every text of a content; for several texts also the joined text, as a page may show it. */
export function textsOf(content: Message["content"]): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length > 1 ? [...texts, texts.join("")] : texts;
}

/** The event that would have opened a listed call. */
export function callStart({ id: toolCallId, function: { name } }: ToolCall): AgUiEvent {
  return { type: "TOOL_CALL_START", toolCallId, toolCallName: name };
}

/** The event that would have streamed the arguments of a listed call. */
export function argumentsOf({ id: toolCallId, function: called }: ToolCall): AgUiEvent[] {
  if (called.arguments === "") return [];
  return [{ type: "TOOL_CALL_ARGS", toolCallId, delta: called.arguments }];
}

/** The events that would have streamed the metadata of a listed message. */
export function attachedMetadataEvents(message: Message): AgUiEvent[] {
  const { id, metadata, subagentRunId } = message;
  const events: AgUiEvent[] = [];
  const name = "name" in message ? message.name : undefined;
  // No event carries a tool's error, so it is read like the tool's result.
  const error = message.role === "tool" ? message.error : undefined;
  if ((name ?? metadata ?? subagentRunId ?? error) !== undefined) {
    events.push({
      ...asStreamed(message),
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(subagentRunId === undefined ? {} : { subagentRunId }),
      ...(error === undefined ? {} : { content: error }),
    } as AgUiEvent);
  }
  return "encryptedValue" in message
    ? [...events, ...encryptedEvents("message", id, message)]
    : events;
}

/** The events that would have streamed the metadata of a listed call. */
export function attachedCallEvents(call: ToolCall): AgUiEvent[] {
  const {
    id,
    function: { name },
    metadata,
  } = call;
  const events: AgUiEvent[] = [];
  if (metadata !== undefined) {
    events.push({ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, metadata });
  }
  return [...events, ...encryptedEvents("tool-call", id, call)];
}

function encryptedEvents(
  subtype: "message" | "tool-call",
  entityId: string,
  { encryptedValue, encryptedValueType }: Pick<ToolCall, "encryptedValue" | "encryptedValueType">,
): AgUiEvent[] {
  if (encryptedValue === undefined) return [];
  const kind = encryptedValueType === undefined ? {} : { encryptedValueType };
  return [{ type: "REASONING_ENCRYPTED_VALUE", subtype, entityId, encryptedValue, ...kind }];
}
