import { isJsonObject, ownMember, parseJson, parseLeniently } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isOperation } from "../a2ui/operations.js";
import type { SurfaceLimits } from "../base/facts.js";
import type { Problems } from "../base/problems.js";

/** User interface that a value contains. */
export type FoundUi =
  | { readonly kind: "a2ui"; readonly operations: readonly JsonValue[]; readonly place: string }
  | { readonly kind: "app"; readonly content: JsonObject; readonly resourceUri: string }
  | {
      readonly kind: "resource";
      readonly uri: string;
      readonly html: string;
      readonly meta: JsonValue | undefined;
    };

/** Members of results and messages below which clients look for user interface. */
const WRAPPERS = ["result", "content", "contents", "structuredContent", "messages"];
const MAX_DEPTH = 6;

/**
 * Finds the user interface in a result of a tool or in an activity: `a2ui_operations`, a list of
 * operations, embedded resources of A2UI or `ui://`, also in texts that are JSON.
 */
export function findUi(value: JsonValue, problems: Problems, limits: SurfaceLimits): FoundUi[] {
  const found: FoundUi[] = [];
  look(value, "", 0, found, problems, limits);
  return found;
}

/**
 * Finds the operations in a value that a client draws whatever its form is, below any member: renderers of
 * an application have names of their own.
 */
export function findOperations(
  value: JsonValue,
  problems: Problems,
  limits: SurfaceLimits,
  place = "",
  depth = 0,
): { readonly operations: readonly JsonValue[]; readonly place: string }[] {
  if (typeof value === "string") {
    const parsed = parseUi(value, place, problems, limits);
    if (parsed === undefined || depth > MAX_DEPTH) return [];
    const found = findOperations(parsed.value, problems, limits, place, depth + 1);
    if (!parsed.isStrict && found.length > 0) reportAmbiguous(problems, place);
    return found;
  }
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value) && value.some(isOperation)) return [{ operations: value, place }];
  const below = Object.entries(value).flatMap(([key, inner]) =>
    findOperations(inner, problems, limits, `${place}/${key}`, depth + 1),
  );
  return isOperation(value) ? [{ operations: [value], place }, ...below] : below;
}

function look(
  value: JsonValue,
  place: string,
  depth: number,
  found: FoundUi[],
  problems: Problems,
  limits: SurfaceLimits,
): void {
  if (depth > MAX_DEPTH) return;
  const below = (inner: JsonValue, at: string): void =>
    look(inner, at, depth + 1, found, problems, limits);
  if (typeof value === "string") {
    const before = found.length;
    const parsed = parseUi(value, place, problems, limits);
    if (parsed === undefined) return;
    below(parsed.value, place);
    if (!parsed.isStrict && found.length > before) {
      reportAmbiguous(problems, place);
    }
    return;
  }
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isOperation)) {
      found.push({ kind: "a2ui", operations: value, place });
      return;
    }
    for (const [index, item] of value.entries()) below(item, `${place}/${index}`);
    return;
  }
  if (!isJsonObject(value)) return;
  const operations = ownMember(value, "a2ui_operations");
  if (operations !== undefined)
    lookOperations(operations, `${place}/a2ui_operations`, found, problems, limits);
  else if (isOperation(value)) found.push({ kind: "a2ui", operations: [value], place });
  const { resourceUri } = value;
  if (typeof resourceUri === "string") found.push({ kind: "app", content: value, resourceUri });
  lookResource(value, below, place, found);
  if (typeof value["text"] === "string" && operations === undefined)
    below(value["text"], `${place}/text`);
  for (const name of WRAPPERS) {
    const inner = ownMember(value, name);
    if (inner !== undefined) below(inner, `${place}/${name}`);
  }
}

function reportAmbiguous(problems: Problems, place: string): void {
  problems.add(
    "surface/unreadable",
    true,
    undefined,
    place,
    "A text is user interface for clients, but not JSON of one meaning. Fix: send JSON without duplicate keys and lone surrogates.",
  );
}

function lookOperations(
  operations: JsonValue,
  place: string,
  found: FoundUi[],
  problems: Problems,
  limits: SurfaceLimits,
): void {
  const parsed =
    typeof operations === "string" ? parseUi(operations, place, problems, limits) : undefined;
  const list = typeof operations === "string" ? parsed?.value : operations;
  if (parsed?.isStrict === false) reportAmbiguous(problems, place);
  if (Array.isArray(list)) found.push({ kind: "a2ui", operations: list, place });
  else {
    found.push({ kind: "a2ui", operations: [], place });
    problems.add(
      "surface/malformed-operation",
      true,
      undefined,
      place,
      "The value of a2ui_operations is not a list.",
    );
  }
}

/** An embedded resource of MCP: A2UI by its media type, or a view by its `ui://` address. */
function lookResource(
  value: JsonObject,
  below: (inner: JsonValue, at: string) => void,
  place: string,
  found: FoundUi[],
): void {
  const resource = isJsonObject(value["resource"]) ? value["resource"] : value;
  const { uri, mimeType, text, blob } = resource;
  if (typeof uri !== "string") return;
  const type = typeof mimeType === "string" ? mimeType.toLowerCase() : "";
  const body =
    typeof text === "string" ? text : typeof blob === "string" ? decodeBlob(blob) : undefined;
  if (type.includes("html") || /^\s*ui:/i.test(uri)) {
    found.push({ kind: "resource", uri, html: body ?? "", meta: ownMember(resource, "_meta") });
  } else if (body !== undefined && resource !== value) below(body, `${place}/resource/text`);
}

/** Base64 as the most lenient program decodes it: without padding, for URLs, with other characters between. */
function decodeBlob(blob: string): string | undefined {
  try {
    const plain = blob.replaceAll("-", "+").replaceAll("_", "/");
    const text = plain.replaceAll(/[^A-Za-z\d+/]/g, "");
    const binary = atob(text.length % 4 === 1 ? text.slice(0, -1) : text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}

interface Parsed {
  readonly value: JsonValue;
  readonly isStrict: boolean;
}

/** The JSON of a text, or of its lines; undefined when it is none for any client. */
function parseUi(
  text: string,
  place: string,
  problems: Problems,
  limits: SurfaceLimits,
): Parsed | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  if (text.length > limits.maxModelLength) {
    if (NAMES_UI.test(text)) {
      problems.add(
        "surface/over-limit",
        true,
        undefined,
        place,
        "A text that can be user interface is longer than maxModelLength. Fix: send a smaller surface, or raise the limit.",
      );
    }
    return undefined;
  }
  return parseText(text, limits) ?? parseLines(text, place, problems, limits);
}

/** A mark that each form of an interface has; an escaped letter or digit could hide it. */
const NAMES_UI =
  /a2ui|resourceUri|ui:|Surface|updateComponents|updateDataModel|callFunction|callRendererFunction|beginRendering|dataModelUpdate|\\u00[2-7]/i;

function parseText(text: string, limits: SurfaceLimits): Parsed | undefined {
  try {
    return { value: parseJson(text, { maxBytes: limits.maxModelLength }), isStrict: true };
  } catch {
    const value = parseLeniently(text);
    return value === undefined ? undefined : { value, isStrict: false };
  }
}

const MAX_LINES = 10_000;
const MAX_UNREAD = 256;

/** A2UI streams have one operation in each line. A client may skip lines that are none. */
function parseLines(
  text: string,
  place: string,
  problems: Problems,
  limits: SurfaceLimits,
): Parsed | undefined {
  if (!NAMES_UI.test(text)) return undefined;
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const objects = lines.filter((line) => NAMES_UI.test(line) && isObjectText(line));
  const found: JsonValue[] = [];
  let isStrict = true;
  let unread = 0;
  for (const line of objects.slice(0, MAX_LINES)) {
    const read = parseText(line, limits);
    if (read === undefined && (unread += 1) > MAX_UNREAD) break;
    if (read === undefined || !isOperation(read.value)) continue;
    found.push(read.value);
    isStrict &&= read.isStrict;
  }
  if (objects.length > MAX_LINES || unread > MAX_UNREAD) {
    problems.add(
      "surface/over-limit",
      true,
      undefined,
      place,
      `A text has more than ${MAX_LINES} lines that can be operations, or more than ${MAX_UNREAD} of them are no JSON. Fix: send fewer lines.`,
    );
  }
  if (found.length === 0) return undefined;
  return { value: found, isStrict: isStrict && found.length === lines.length };
}

function isObjectText(line: string): boolean {
  const text = line.trim();
  return text.startsWith("{") && text.endsWith("}");
}
