/** A place where the protocol defines the members; everything else is the application's data. */
export type Position = {
  /** snake_case members that servers really send here, with their 1.0 names. */
  names: ReadonlyMap<string, string>;
  /** Optional members whose null 1.0 itself still reads as absent. */
  shimNulls: readonly string[];
  /** Optional members whose null only an older producer is forgiven. */
  oldNulls: readonly string[];
  /** Members that hold a further position, or a list of them. */
  children: ReadonlyMap<string, Position>;
  /** Content parts are the only position with a translation of its own. */
  part?: true;
  /** A null `content` is absent only where content is optional. */
  assistantContent?: true;
};

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

function position(
  names: readonly string[],
  rest: Partial<Omit<Position, "names" | "children">> & {
    children?: Readonly<Record<string, Position>>;
  } = {},
): Position {
  const { children = {}, ...own } = rest;
  return {
    shimNulls: [],
    oldNulls: [],
    ...own,
    names: new Map(names.map((name) => [snake(name), name])),
    children: new Map(Object.entries(children)),
  };
}

const SOURCE = position(["mimeType"], { oldNulls: ["mimeType", "provider"] });
const PART = position(["mimeType"], {
  shimNulls: ["metadata"],
  oldNulls: ["id", "url", "data", "filename"],
  children: { source: SOURCE },
  part: true,
});
const TOOL_CALL = position(["encryptedValue"], { oldNulls: ["encryptedValue"] });
const MESSAGE = position(
  ["toolCalls", "toolCallId", "activityType", "encryptedValue", "subagentRunId"],
  {
    oldNulls: ["name", "toolCalls", "error", "encryptedValue"],
    children: { toolCalls: TOOL_CALL, content: PART },
    assistantContent: true,
  },
);
const TOOL = position([], { shimNulls: ["parameters"] });
const RESUME = position(["interruptId"], { shimNulls: ["payload"] });
const INTERRUPT = position(["toolCallId", "responseSchema", "expiresAt", "subagentRunId"], {
  oldNulls: ["message", "toolCallId", "responseSchema", "expiresAt", "metadata"],
});
const OUTCOME = position(["pendingToolCallIds", "interruptIds"], {
  children: { interrupts: INTERRUPT },
});
const USAGE = position([
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "reasoningTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens",
]);

/** The members of a run's input. */
export const INPUT_POSITION = position(
  ["threadId", "runId", "parentRunId", "forwardedProps", "protocolVersion"],
  {
    shimNulls: ["forwardedProps"],
    oldNulls: ["parentRunId", "resume"],
    children: { messages: MESSAGE, tools: TOOL, resume: RESUME },
  },
);

const EVENT_NAMES = [
  "threadId",
  "runId",
  "parentRunId",
  "protocolVersion",
  "messageId",
  "parentMessageId",
  "toolCallId",
  "toolCallName",
  "subagentRunId",
  "parentSubagentRunId",
  "parentToolCallId",
  "stepName",
  "activityType",
  "entityId",
  "encryptedValue",
  "rawEvent",
] as const;

function event(
  shimNulls: readonly string[] = [],
  oldNulls: readonly string[] = [],
  children: Readonly<Record<string, Position>> = {},
): Position {
  return position(EVENT_NAMES, {
    shimNulls: ["rawEvent", ...shimNulls],
    oldNulls: ["timestamp", ...oldNulls],
    children,
  });
}

const ANY_EVENT = event();
const EVENTS: ReadonlyMap<string, Position> = new Map([
  ["RUN_STARTED", event([], ["parentRunId", "input"], { input: INPUT_POSITION })],
  ["RUN_FINISHED", event(["result", "outcome"], ["usage"], { outcome: OUTCOME, usage: USAGE })],
  ["RUN_ERROR", event([], ["code", "usage"], { usage: USAGE })],
  ["TEXT_MESSAGE_START", event([], ["name"])],
  ["TEXT_MESSAGE_CHUNK", event([], ["messageId", "role", "delta", "name"])],
  ["TOOL_CALL_START", event(["parentMessageId"])],
  ["TOOL_CALL_CHUNK", event(["parentMessageId"], ["toolCallId", "toolCallName", "delta"])],
  ["TOOL_CALL_RESULT", event([], ["role"])],
  ["REASONING_MESSAGE_CHUNK", event([], ["messageId", "delta"])],
  ["THINKING_START", event([], ["title"])],
  ["MESSAGES_SNAPSHOT", event([], [], { messages: MESSAGE })],
  ["SUBAGENT_FINISHED", event(["result"], [], { outcome: OUTCOME })],
  ["RAW", event([], ["source"])],
]);

/** The members of an event of one type. */
export function eventPosition(type: string): Position {
  return EVENTS.get(type) ?? ANY_EVENT;
}
