import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentPart } from "../vocabulary/content-part.js";

type Member = { readonly part: ContentPart; readonly path: readonly string[] };

const member = (part: ContentPart, ...path: readonly string[]): Member => ({ part, path });
const USAGE = member("text", "usage");
const CODE = member("text", "code");

/**
 * Members of events that a page may show in addition to the text of messages, by their name in
 * `ag_ui_content.read`. `docs/policy/content-fields.md` lists them, and the unread ones with the reason; a
 * test compares the lists with the model of the protocol.
 */
const MEMBERS: ReadonlyMap<JsonValue, readonly Member[]> = new Map([
  ["TOOL_CALL_RESULT", [member("tool_results", "content")]],
  ["ACTIVITY_SNAPSHOT", [member("text", "activityType"), member("activities", "content")]],
  ["ACTIVITY_DELTA", [member("text", "activityType"), member("activities", "patch")]],
  ["STATE_SNAPSHOT", [member("state", "snapshot")]],
  ["STATE_DELTA", [member("state", "delta")]],
  [
    "RUN_FINISHED",
    [member("questions", "outcome", "interrupts"), member("results", "result"), USAGE],
  ],
  ["RUN_ERROR", [CODE, USAGE]],
  ["SUBAGENT_STARTED", [member("text", "name"), member("text", "description")]],
  ["SUBAGENT_FINISHED", [member("results", "result")]],
  ["SUBAGENT_ERROR", [CODE]],
  ["STEP_STARTED", [member("text", "stepName")]],
  ["STEP_FINISHED", [member("text", "stepName")]],
  ["TEXT_MESSAGE_START", [member("text", "name")]],
  ["TEXT_MESSAGE_CHUNK", [member("text", "name")]],
  ["TOOL_CALL_START", [member("text", "toolCallName")]],
  ["TOOL_CALL_CHUNK", [member("text", "toolCallName")]],
  ["RAW", [member("text", "source")]],
  ["CUSTOM", [member("text", "name"), member("custom", "value")]],
]);

/** A member of every event. */
const METADATA = member("metadata", "metadata");

/**
 * Names longer than this, or with other characters, are text of the agent: they are not repeated.
 */
const PLAIN_NAME = /^[\w.-]{1,40}$/;
const LONGEST_POINTER = 200;

/** A finding in a text within a value, and the JSON pointer of that text. */
export type FoundText<Found> = { readonly found: Found; readonly pointer: string };

/** The first result of `find` for a text of an event, apart from those of messages. */
export function findInEvent<Found>(
  event: JsonObject,
  parts: ReadonlySet<ContentPart>,
  find: (text: string, part: ContentPart) => Found | undefined,
): FoundText<Found> | undefined {
  for (const one of MEMBERS.get(event["type"] ?? null) ?? []) {
    const found = findInMember(event, one, parts, find);
    if (found !== undefined) return found;
  }
  return findInMember(event, METADATA, parts, find);
}

function findInMember<Found>(
  event: JsonObject,
  { part, path }: Member,
  parts: ReadonlySet<ContentPart>,
  find: (text: string, part: ContentPart) => Found | undefined,
): FoundText<Found> | undefined {
  if (!parts.has(part)) return undefined;
  let value: JsonValue | undefined = event;
  for (const key of path) value = memberOf(value, key);
  if (value === undefined) return undefined;
  const pointer = `/${path.join("/")}`;
  const findIn = (text: string): Found | undefined => find(text, part);
  if (part === "tool_results") {
    const findInResult = (text: string): Found | undefined =>
      findIn(text) ?? findInJson(text, findIn);
    return findInValue(value, pointer, findInResult) ?? findInJoined(value, pointer, findInResult);
  }
  return findInPaths(value, pointer, findIn) ?? findInValue(value, pointer, findIn);
}

/**
 * The first finding in the text parts of a tool result as one text. Older clients receive the parts as one string, and
 * pages join them, some by a line end.
 */
function findInJoined<Found>(
  content: JsonValue,
  pointer: string,
  find: (text: string) => Found | undefined,
): FoundText<Found> | undefined {
  const texts = textsOfParts(content);
  if (texts.length < 2) return undefined;
  for (const separator of ["", "\n"]) {
    const found = find(texts.join(separator));
    if (found !== undefined) return { found, pointer };
  }
  return undefined;
}

function textsOfParts(content: JsonValue): string[] {
  return (Array.isArray(content) ? content : []).flatMap((part) => {
    const text = memberOf(part, "type") === "text" ? memberOf(part, "text") : undefined;
    return typeof text === "string" ? [text] : [];
  });
}

/** The first thing that `find` has to say about the name of a member in a path of a patch. */
function findInPaths<Found>(
  value: JsonValue,
  pointer: string,
  find: (text: string) => Found | undefined,
): FoundText<Found> | undefined {
  for (const [index, operation] of Array.isArray(value) ? value.entries() : []) {
    for (const name of ["path", "from"]) {
      const path = memberOf(operation, name);
      for (const segment of typeof path === "string" ? path.split("/") : []) {
        if (segment === "" || PLAIN_NAME.test(segment)) continue;
        const found = find(segment.replaceAll("~1", "/").replaceAll("~0", "~"));
        if (found !== undefined) return { found, pointer: `${pointer}/${index}/${name}` };
      }
    }
  }
  return undefined;
}

/**
 * The first thing that `find` has to say about a string of a text that is JSON, and of JSON in that string. One pass: a
 * string in a string has its quotation marks escaped, so that the inner one is shorter by half.
 */
function findInJson<Found>(
  text: string,
  find: (text: string) => Found | undefined,
): Found | undefined {
  if (!/^\s*["[{]/.test(text)) return undefined;
  let start = text.indexOf('"');
  while (start !== -1) {
    let end = start + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    const string = unescaped(text.slice(start + 1, end));
    const found = string === "" ? undefined : (find(string) ?? findInJson(string, find));
    if (found !== undefined) return found;
    start = text.indexOf('"', end + 1);
  }
  return undefined;
}

/** Characters that an escape of JSON stands for; any other escaped character stands for itself. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** The text that the characters between two quotation marks of JSON encode. */
function unescaped(characters: string): string {
  return characters.replace(
    /\\(?:u([\da-f]{4})|([^]))/gi,
    (_, hex: string | undefined, character = "") =>
      hex === undefined
        ? (ESCAPED.get(character) ?? character)
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/**
 * The first result of `find` for a text within a value at `pointer`. A member name that is more
 * than a plain name counts as a text: pages show tables of names and values. Depth and size are
 * bounded when a value is parsed; each text is checked once.
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

/** A member of a value, if it is an object with that member. */
export function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
