import type { JsonObject, JsonValue } from "@countersign/core";
import { stringify } from "yaml";
import { asObject } from "../base/json-object.js";
import type { PolicyDocument, PolicyRules } from "../document/model.js";

/** Lists of restrictions: new lines replace them, while other lists are extended. */
const REPLACED: ReadonlySet<string> = new Set(["restricted_classifications"]);

/**
 * A policy with added lines, as an operator adds them: into existing blocks, and before the entries
 * of a list, because the first matching entry decides.
 */
export function addLines(document: PolicyDocument, lines: JsonObject): PolicyDocument {
  return { ...document, rules: added(document.rules as JsonObject, lines) as PolicyRules };
}

/** Merges two sets of lines. */
export function joinLines(lines: JsonObject, more: JsonObject): JsonObject {
  return added(lines, more);
}

/** Lines as YAML for `rules` of a policy. */
export function writeLines(lines: JsonObject): string {
  return stringify(lines, { lineWidth: 0 }).trimEnd();
}

function added(base: JsonObject, lines: JsonObject): JsonObject {
  const result: JsonObject = { ...base };
  for (const [key, value] of Object.entries(lines)) {
    result[key] = valueOf(key, Object.hasOwn(base, key) ? base[key] : undefined, value);
  }
  return result;
}

function valueOf(key: string, before: JsonValue | undefined, value: JsonValue): JsonValue {
  const [left, right] = [asObject(before), asObject(value)];
  if (left !== undefined && right !== undefined) return added(left, right);
  if (Array.isArray(before) && Array.isArray(value) && !REPLACED.has(key)) {
    return [...value, ...before];
  }
  return value;
}
