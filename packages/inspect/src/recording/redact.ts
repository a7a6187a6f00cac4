import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { EVENT_TABLE, isEventType } from "@countersign/wire";
import type { RecordingLine } from "./line.js";

/** The groups of content that can be taken out of a recording. */
export const REDACTION_GROUPS = ["text", "reasoning", "toolArgs", "toolResults", "state"] as const;

/** One group of content. */
export type RedactionGroup = (typeof REDACTION_GROUPS)[number];

/** Which group owns which field; whatever is neither listed nor structure goes with any group. */
const OWNED: Readonly<Record<string, Readonly<Record<string, RedactionGroup>>>> = {
  TEXT_MESSAGE_CONTENT: { delta: "text" },
  TEXT_MESSAGE_CHUNK: { delta: "text" },
  REASONING_MESSAGE_CONTENT: { delta: "reasoning" },
  REASONING_MESSAGE_CHUNK: { delta: "reasoning" },
  REASONING_ENCRYPTED_VALUE: { encryptedValue: "reasoning" },
  THINKING_START: { title: "reasoning" },
  THINKING_TEXT_MESSAGE_CONTENT: { delta: "reasoning" },
  TOOL_CALL_ARGS: { delta: "toolArgs" },
  TOOL_CALL_CHUNK: { delta: "toolArgs" },
  TOOL_CALL_RESULT: { content: "toolResults" },
  STATE_SNAPSHOT: { snapshot: "state" },
  STATE_DELTA: { delta: "state" },
  ACTIVITY_SNAPSHOT: { content: "state" },
  ACTIVITY_DELTA: { patch: "state" },
};

const ROLE_GROUPS: Readonly<Record<string, RedactionGroup>> = {
  user: "text",
  assistant: "text",
  system: "text",
  developer: "text",
  tool: "toolResults",
  reasoning: "reasoning",
  activity: "state",
};

/** Ids, names and kinds: what a recording is about, without what it says. */
const STRUCTURE: ReadonlySet<string> = new Set([
  "type",
  "timestamp",
  "threadId",
  "runId",
  "parentRunId",
  "protocolVersion",
  "messageId",
  "parentMessageId",
  "toolCallId",
  "toolCallName",
  "parentToolCallId",
  "subagentRunId",
  "parentSubagentRunId",
  "entityId",
  "subtype",
  "role",
  "name",
  "stepName",
  "activityType",
  "replace",
  "code",
  "source",
  "id",
  "op",
  "path",
  "from",
  "status",
  "interruptId",
  "reason",
  "expiresAt",
  "pendingToolCallIds",
  "interruptIds",
  "usage",
  "mimeType",
]);

type Groups = ReadonlySet<RedactionGroup>;

/** Takes the chosen groups out of a line; sizes, order, ids and times stay. With no group nothing changes. */
export function redactLine(line: RecordingLine, groups: Groups): RecordingLine {
  if (groups.size === 0) return line;
  switch (line.kind) {
    case "request":
      return line.input === undefined ? line : { ...line, input: redactInput(line.input, groups) };
    case "event": {
      const { text: _text, ...rest } = line;
      return { ...rest, event: redactEvent(line.event, groups) };
    }
    case "comment":
      return { ...line, text: mask(line.text) };
    default:
      return line;
  }
}

function redactEvent(event: JsonValue, groups: Groups): JsonValue {
  if (!isJsonObject(event)) return maskAll(event);
  const type = typeof event["type"] === "string" ? event["type"] : "";
  const owned = Object.hasOwn(OWNED, type) ? OWNED[type] : undefined;
  if (owned === undefined && !isEventType(type)) return keepStructure(event, new Set(["type"]));
  return mapMembers(event, (key, value) => {
    const group = owned !== undefined && Object.hasOwn(owned, key) ? owned[key] : undefined;
    if (group !== undefined) {
      if (!groups.has(group)) return value;
      return key === "delta" || key === "patch" ? redactPatch(value) : maskAll(value);
    }
    if (key === "messages" && Array.isArray(value))
      return value.map((message) => redactMessage(message, groups));
    if (key === "input") return redactInput(value, groups);
    if (key === "outcome" || key === "usage") return keepStructure(value, STRUCTURE);
    return STRUCTURE.has(key) && describes(type, key) ? value : maskAll(value);
  });
}

function describes(type: string, key: string): boolean {
  if (!isEventType(type)) return true;
  return key === "type" || Object.hasOwn(EVENT_TABLE[type].fields, key);
}

function redactInput(input: JsonValue, groups: Groups): JsonValue {
  if (!isJsonObject(input)) return maskAll(input);
  return mapMembers(input, (key, value) => {
    if (key === "messages" && Array.isArray(value))
      return value.map((message) => redactMessage(message, groups));
    if (key === "state") return groups.has("state") ? maskAll(value) : value;
    if (key === "tools" || key === "resume") return keepStructure(value, STRUCTURE);
    return STRUCTURE.has(key) ? value : maskAll(value);
  });
}

function redactMessage(message: JsonValue, groups: Groups): JsonValue {
  if (!isJsonObject(message)) return maskAll(message);
  const role = typeof message["role"] === "string" ? message["role"] : "";
  const group = Object.hasOwn(ROLE_GROUPS, role) ? ROLE_GROUPS[role] : undefined;
  return mapMembers(message, (key, value) => {
    if (key === "content") {
      if (group !== undefined && !groups.has(group)) return value;
      return Array.isArray(value)
        ? keepStructure(value, new Set(["type", "mimeType"]))
        : maskAll(value);
    }
    if (key === "toolCalls" && Array.isArray(value))
      return value.map((call) => redactCall(call, groups));
    return STRUCTURE.has(key) ? value : maskAll(value);
  });
}

function redactCall(call: JsonValue, groups: Groups): JsonValue {
  if (!isJsonObject(call)) return maskAll(call);
  return mapMembers(call, (key, value) => {
    if (key !== "function" || !isJsonObject(value))
      return STRUCTURE.has(key) ? value : maskAll(value);
    return mapMembers(value, (name, part) =>
      name === "name" || (name === "arguments" && !groups.has("toolArgs")) ? part : maskAll(part),
    );
  });
}

/** Operations and paths decide whether a patch applies, so they stay. */
function redactPatch(value: JsonValue): JsonValue {
  return Array.isArray(value)
    ? keepStructure(value, new Set(["op", "path", "from"]))
    : maskAll(value);
}

function keepStructure(value: JsonValue, names: ReadonlySet<string>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => keepStructure(item, names));
  if (!isJsonObject(value)) return maskAll(value);
  return mapMembers(value, (key, member) =>
    names.has(key) && (!isJsonObject(member) || key === "usage")
      ? member
      : keepStructure(member, names),
  );
}

/** Every leaf masked; keys, positions and nulls stay. */
function maskAll(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(maskAll);
  if (isJsonObject(value)) return mapMembers(value, (_key, member) => maskAll(member));
  return value === null ? null : mask(String(value));
}

/** The size survives, the content does not; an empty text has nothing to hide and stays empty. */
function mask(text: string): string {
  return text === "" ? "" : `«redacted: ${text.length} chars»`;
}

function mapMembers(
  object: JsonObject,
  change: (key: string, value: JsonValue) => JsonValue,
): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(key, value)]),
  );
}
