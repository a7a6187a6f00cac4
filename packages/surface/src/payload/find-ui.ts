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
    const parsed = parseUi(value, limits);
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
  const parsed = typeof operations === "string" ? parseUi(operations, limits) : undefined;
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

/** Base64 as browsers decode it: without its padding, with white space. */
function decodeBlob(blob: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(blob), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}

/** The JSON of a text; undefined when it is none for any client. */
function parseUi(
  text: string,
  limits: SurfaceLimits,
): { readonly value: JsonValue; readonly isStrict: boolean } | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return { value: parseJson(text, { maxBytes: limits.maxModelLength }), isStrict: true };
  } catch {
    const value = text.length > limits.maxModelLength ? undefined : parseLeniently(text);
    return value === undefined ? undefined : { value, isStrict: false };
  }
}
