import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentPart } from "../vocabulary/content-part.js";

/** Members of events that hold text beside messages, by the word of `ag_ui_content.read` that asks for them. */
const MEMBERS: ReadonlyMap<
  JsonValue,
  { readonly part: ContentPart; readonly path: readonly string[] }
> = new Map([
  ["TOOL_CALL_RESULT", { part: "tool_results", path: ["content"] }],
  ["ACTIVITY_SNAPSHOT", { part: "activities", path: ["content"] }],
  ["ACTIVITY_DELTA", { part: "activities", path: ["patch"] }],
  ["STATE_SNAPSHOT", { part: "state", path: ["snapshot"] }],
  ["STATE_DELTA", { part: "state", path: ["delta"] }],
  ["RUN_FINISHED", { part: "questions", path: ["outcome", "interrupts"] }],
  ["CUSTOM", { part: "custom", path: ["value"] }],
]);

/** Names longer than this, or with other characters, are an agent's words: they are not repeated. */
const PLAIN_NAME = /^[\w.-]{1,40}$/;
const LONGEST_POINTER = 200;

/** What was found in a text within a value, and the JSON pointer of that text. */
export type FoundText<Found> = { readonly found: Found; readonly pointer: string };

/** The first thing that `find` has to say about a text of an event, beside those of messages. */
export function findInEvent<Found>(
  event: JsonObject,
  parts: ReadonlySet<ContentPart>,
  find: (text: string) => Found | undefined,
): FoundText<Found> | undefined {
  const member = MEMBERS.get(event["type"] ?? null);
  if (member === undefined || !parts.has(member.part)) return undefined;
  let value: JsonValue | undefined = event;
  for (const key of member.path) value = memberOf(value, key);
  return findInValue(value, `/${member.path.join("/")}`, find);
}

/**
 * The first thing that `find` has to say about a text within a value, which stands at `pointer`. A name of a member
 * that is more than a plain name counts as a text: pages show tables of names and values.
 *
 * Depth and size are bounded where a value is parsed; each text is looked at once.
 */
export function findInValue<Found>(
  value: JsonValue | undefined,
  pointer: string,
  find: (text: string) => Found | undefined,
): FoundText<Found> | undefined {
  if (typeof value === "string") {
    const found = find(value);
    return found === undefined ? undefined : { found, pointer: shortened(pointer) };
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const inner = (value as JsonObject)[key];
    const isPlain = PLAIN_NAME.test(key);
    const place = isPlain ? `${pointer}/${key}` : `${pointer}/*`;
    const found =
      (isPlain ? undefined : findInValue(key, place, find)) ?? findInValue(inner, place, find);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shortened(pointer: string): string {
  return pointer.length > LONGEST_POINTER ? `${pointer.slice(0, LONGEST_POINTER)}…` : pointer;
}

/** A member of a value, if it is an object that has it. */
export function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
