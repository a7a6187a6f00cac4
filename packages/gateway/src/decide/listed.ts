import type { AgUiEvent, Message, ToolCall } from "@countersign/wire";

/** The event that would have brought a message of a list, or opened it. */
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

/** The event that would have brought the arguments of a listed call. */
export function argumentsOf({ id: toolCallId, function: called }: ToolCall): AgUiEvent[] {
  if (called.arguments === "") return [];
  return [{ type: "TOOL_CALL_ARGS", toolCallId, delta: called.arguments }];
}

/** Events that would have brought what a listed message has on it beside its words. */
export function wornBy(message: Message): AgUiEvent[] {
  const { id, metadata, subagentRunId } = message;
  const events: AgUiEvent[] = [];
  const name = "name" in message ? message.name : undefined;
  // No event brings an error of a tool; it is read like what the tool said.
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

/** The same for a listed call. */
export function wornByCall(call: ToolCall): AgUiEvent[] {
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
