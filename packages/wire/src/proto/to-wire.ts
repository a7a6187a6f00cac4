import { CONTENT_FIELDS, PART_KINDS, SOURCE_KINDS } from "./shapes.js";
import type { WireObject } from "./write-message.js";
import { isWireObject } from "./write-message.js";
import { unencodable } from "./write-state.js";

type Shaper = (event: WireObject) => WireObject;

/** `{ type: "data", … }` becomes `{ data: {…} }`. */
function toArm(kinds: readonly string[], value: unknown, path: string): WireObject {
  if (!isWireObject(value)) throw unencodable(path, "it is not an object");
  const { type, ...rest } = value;
  if (typeof type !== "string" || !kinds.includes(type)) {
    throw unencodable(`${path}.type`, "protobuf has no such kind");
  }
  return { [type]: rest };
}

function toPart(value: unknown, path: string): WireObject {
  if (!isWireObject(value) || value["source"] === undefined) return toArm(PART_KINDS, value, path);
  const source = toArm(SOURCE_KINDS, value["source"], `${path}.source`);
  return toArm(PART_KINDS, { ...value, source }, path);
}

function toParts(parts: readonly unknown[], path: string): WireObject[] {
  return parts.map((part, index) => toPart(part, `${path}[${index}]`));
}

/** Moves `content` into the field that its form needs. */
function toMessage(value: unknown, path: string): WireObject {
  if (!isWireObject(value)) throw unencodable(path, "it is not an object");
  const { content, ...rest } = value;
  const allowed = typeof value["role"] === "string" ? CONTENT_FIELDS.get(value["role"]) : undefined;
  if (allowed === undefined) throw unencodable(`${path}.role`, "the protocol has no such role");
  if (content === undefined) {
    if (value["role"] !== "assistant") throw unencodable(`${path}.content`, "it is required");
    return rest;
  }
  // No parts and no content are the same bytes; readers give a role that uses parts the empty list.
  if (Array.isArray(content) && content.length === 0 && allowed.has("contentParts")) return rest;
  const field = Array.isArray(content)
    ? "contentParts"
    : isWireObject(content)
      ? "activityContent"
      : "content";
  if (!allowed.has(field)) {
    throw unencodable(`${path}.content`, "the role has no content of this form");
  }
  const carried = Array.isArray(content) ? toParts(content, `${path}.content`) : content;
  return { ...rest, [field]: carried };
}

function toMessages(value: unknown, path: string): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((message, index) => toMessage(message, `${path}[${index}]`));
}

/** The outcome's type and lists lie beside the event's own members, which it may not replace. */
function withOutcome(event: WireObject): WireObject {
  const { outcome, ...rest } = event;
  if (outcome === undefined) return { ...rest, outcome: "" };
  const path = `${String(event["type"])}.outcome`;
  if (!isWireObject(outcome)) throw unencodable(path, "it is not an object");
  const { type, ...lists } = outcome;
  for (const name of Object.keys(lists)) {
    if (Object.hasOwn(rest, name)) throw unencodable(`${path}.${name}`, "the event has it too");
  }
  return { ...rest, ...lists, outcome: type };
}

const SHAPERS: ReadonlyMap<string, Shaper> = new Map<string, Shaper>([
  [
    "RUN_STARTED",
    (event) => {
      const { input } = event;
      if (!isWireObject(input)) return event;
      const messages = toMessages(input["messages"], "RUN_STARTED.input.messages");
      return { ...event, input: { ...input, messages } };
    },
  ],
  ["RUN_FINISHED", withOutcome],
  ["SUBAGENT_FINISHED", withOutcome],
  [
    "MESSAGES_SNAPSHOT",
    (event) => ({
      ...event,
      messages: toMessages(event["messages"], "MESSAGES_SNAPSHOT.messages"),
    }),
  ],
  [
    "TOOL_CALL_RESULT",
    (event) => {
      const { content, ...rest } = event;
      if (content === undefined) throw unencodable("TOOL_CALL_RESULT.content", "it is required");
      if (!Array.isArray(content)) return event;
      if (content.length === 0) return rest;
      return { ...rest, contentParts: toParts(content, "TOOL_CALL_RESULT.content") };
    },
  ],
]);

/** Gives an event the shape of its protobuf message; the event itself is not changed. */
export function toWire(type: string, event: WireObject): WireObject {
  return SHAPERS.get(type)?.(event) ?? event;
}
