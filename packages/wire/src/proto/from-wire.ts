import { CountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { ReadState } from "./read-state.js";
import { note } from "./read-state.js";
import { CONTENT_FIELDS, PART_KINDS, SOURCE_KINDS } from "./shapes.js";

type Shaper = (state: ReadState, event: JsonObject) => void;

function contentError(state: ReadState, reason: string): CountersignError {
  return new CountersignError(
    "ERR_PROTO_CONTENT_CARRIER",
    `content that cannot be read: ${reason}`,
    {
      offset: state.start,
      reason,
    },
  );
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return listOf(value) as JsonObject[];
}

/** `{ data: {…} }` becomes `{ type: "data", … }`; undefined when no known arm is there. */
function fromArm(kinds: readonly string[], wire: JsonObject): JsonObject | undefined {
  for (const kind of kinds) {
    const arm = wire[kind] as JsonObject | undefined;
    if (arm !== undefined) return { type: kind, ...arm };
  }
  return undefined;
}

function fromPart(wire: JsonObject): JsonObject | undefined {
  const part = fromArm(PART_KINDS, wire);
  if (part === undefined || part["source"] === undefined) return part;
  const source = fromArm(SOURCE_KINDS, part["source"] as JsonObject);
  if (source === undefined) return undefined;
  part["source"] = source;
  return part;
}

/** A part of a later version is left out, as the JSON form would lose it in enforcement. */
function fromParts(state: ReadState, wire: JsonValue | undefined): JsonObject[] {
  const parts: JsonObject[] = [];
  for (const item of objectsOf(wire)) {
    const part = fromPart(item);
    if (part === undefined) note(state, { kind: "unknown-part", offset: state.start });
    else parts.push(part);
  }
  return parts;
}

function fromMessage(state: ReadState, wire: JsonObject): JsonObject {
  const { content, contentParts, activityContent, ...message } = wire;
  const carriers: JsonObject = {};
  if (content !== undefined) carriers["content"] = content;
  if (contentParts !== undefined) carriers["contentParts"] = contentParts;
  if (activityContent !== undefined) carriers["activityContent"] = activityContent;
  const present = Object.keys(carriers);
  if (present.length > 1) throw contentError(state, "it rides in more than one field");
  const allowed = CONTENT_FIELDS.get(wire["role"] as string);
  const [only] = present;
  // A role of a later version may use any one carrier; enforcement names and drops the message.
  if (only !== undefined && allowed !== undefined && !allowed.has(only)) {
    throw contentError(state, "the role does not use the field it rides in");
  }
  if (content !== undefined) message["content"] = content;
  else if (activityContent !== undefined) message["content"] = activityContent;
  else if (contentParts !== undefined || allowed?.has("contentParts") === true) {
    message["content"] = fromParts(state, contentParts);
  }
  return message;
}

function fromMessages(state: ReadState, wire: JsonValue | undefined): JsonObject[] {
  return objectsOf(wire).map((message) => fromMessage(state, message));
}

function fromInput(state: ReadState, event: JsonObject): void {
  const input = event["input"] as JsonObject | undefined;
  if (input === undefined) return;
  input["messages"] = fromMessages(state, input["messages"]);
  // An absent list and an empty one are the same bytes; the official reader gives the empty one.
  for (const list of ["tools", "context", "resume"]) input[list] = listOf(input[list]);
}

/** Outcome and its lists are spread over the event; a list no outcome owns stays where it is. */
function outcomeShaper(lists: readonly string[], own: { type: string; list: string }): Shaper {
  return (_state, event) => {
    const type = event["outcome"];
    delete event["outcome"];
    if (typeof type !== "string" || type === "") return;
    const outcome: JsonObject = { type };
    for (const list of lists) {
      const items = event[list];
      if (items !== undefined) {
        outcome[list] = items;
        delete event[list];
      } else if (own.type === type && own.list === list) outcome[list] = [];
    }
    event["outcome"] = outcome;
  };
}

const SHAPERS: ReadonlyMap<string, Shaper> = new Map<string, Shaper>([
  ["RUN_STARTED", fromInput],
  [
    "RUN_FINISHED",
    outcomeShaper(["interrupts", "pendingToolCallIds"], { type: "interrupt", list: "interrupts" }),
  ],
  ["SUBAGENT_FINISHED", outcomeShaper(["interruptIds"], { type: "", list: "" })],
  [
    "MESSAGES_SNAPSHOT",
    (state, event) => {
      event["messages"] = fromMessages(state, event["messages"]);
    },
  ],
  [
    "STATE_DELTA",
    (_state, event) => {
      event["delta"] = listOf(event["delta"]);
    },
  ],
  [
    "ACTIVITY_DELTA",
    (_state, event) => {
      event["patch"] = listOf(event["patch"]);
    },
  ],
  [
    "TOOL_CALL_RESULT",
    (state, event) => {
      const parts = event["contentParts"];
      if (parts !== undefined && event["content"] !== undefined) {
        throw contentError(state, "it rides in more than one field");
      }
      delete event["contentParts"];
      event["content"] ??= fromParts(state, parts);
    },
  ],
]);

/** Gives an event read from protobuf the shape it has in JSON, in place. */
export function shapeEvent(state: ReadState, type: string, event: JsonObject): void {
  SHAPERS.get(type)?.(state, event);
}
