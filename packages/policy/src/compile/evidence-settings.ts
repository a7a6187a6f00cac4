import { isCountersignError, isJsonObject, parseJson, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { EventFacts } from "../classify/facts.js";
import type { PolicyDocument } from "../document/model.js";
import { matchesGlob } from "../patterns/glob.js";
import { splitPointer } from "../patterns/pointer-glob.js";
import { compileMatch, matchesAny } from "./event-match.js";
import { isActive } from "./rule.js";

/** Stands where a value was removed from a kept copy. */
export const REDACTED = "[redacted]";

/** Removed places that are listed; a copy with more of them is redacted all the same. */
const MAX_PLACES = 100;

/** A payload for the evidence store. */
export type RedactedPayload = {
  readonly value: JsonValue;
  /** JSON Pointers of the removed values; empty if the value is unchanged. */
  readonly places: readonly string[];
};

/** `ag_ui_evidence`: what the evidence store may keep. */
export type EvidenceSettings = {
  /** Whether no copy of this event may be kept. */
  isNever(facts: EventFacts): boolean;
  /** Replaces the values that may not be kept; `undefined` if the policy names none. */
  readonly redact: ((payload: JsonValue) => RedactedPayload) | undefined;
};

/** Fills in the defaults of `ag_ui_evidence`: without it nothing is removed. */
export function compileEvidenceSettings({ rules }: PolicyDocument): EvidenceSettings {
  const block = isActive(rules.ag_ui_evidence) ? rules.ag_ui_evidence : {};
  const never = (block.never ?? []).map(compileMatch);
  const names = (block.redact ?? []).map((name) => name.toLowerCase());
  return {
    isNever: (facts) => never.some((match) => matchesAny(match, facts)),
    redact: names.length === 0 ? undefined : (payload) => redactPayload(names, payload),
  };
}

function redactPayload(names: readonly string[], payload: JsonValue): RedactedPayload {
  const places: string[] = [];
  let isChanged = false;
  const isSecret = (name: string): boolean => {
    const lower = name.toLowerCase();
    return names.some((pattern) => matchesGlob(pattern, lower));
  };
  const mark = (place: string): string => {
    isChanged = true;
    if (places.length < MAX_PLACES) places.push(place);
    return REDACTED;
  };
  /** The text of a value that is JSON itself, such as the arguments of a call. */
  const redactText = (text: string, place: string): string => {
    const inner = jsonIn(text);
    if (inner === undefined) return text;
    const was = isChanged;
    isChanged = false;
    const value = redact(inner, place);
    const result = isChanged ? JSON.stringify(value) : text;
    isChanged ||= was;
    return result;
  };
  const redactMember = (object: JsonObject, name: string, place: string): JsonValue => {
    const value = object[name] as JsonValue;
    if (isSecret(name)) return mark(place);
    // A change of a state names its member in the path.
    if (name === "value" && isPatch(object) && splitPointer(object["path"]).some(isSecret)) {
      return mark(place);
    }
    // A part of arguments cannot be read alone: the secret may begin in the part before.
    if (isArguments(object, name) && jsonIn(String(value)) === undefined) return mark(place);
    return redact(value, place);
  };
  const redact = (value: JsonValue, place: string): JsonValue => {
    if (typeof value === "string") return redactText(value, place);
    if (Array.isArray(value)) return value.map((item, index) => redact(item, `${place}/${index}`));
    if (!isJsonObject(value)) return value;
    const copy: JsonObject = {};
    for (const name of Object.keys(value)) {
      const at = `${place}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      setMember(copy, name, redactMember(value, name, at));
    }
    return copy;
  };
  const value = redact(payload, "");
  return isChanged ? { value, places } : { value: payload, places: [] };
}

type Patch = JsonObject & { readonly path: string };

function isPatch(object: JsonObject): object is Patch {
  return typeof object["op"] === "string" && typeof object["path"] === "string";
}

/** Whether a member has arguments of a call as text: a part of them, or all. */
function isArguments(object: JsonObject, name: string): boolean {
  const { type } = object;
  const isPart = type === "TOOL_CALL_ARGS" || type === "TOOL_CALL_CHUNK";
  const value = object[name];
  const isFilled = typeof value === "string" && value.trim() !== "";
  return isFilled && (name === "arguments" || (isPart && name === "delta"));
}

/** The object or array that a text is as JSON. */
function jsonIn(text: string): JsonValue | undefined {
  if (!/^\s*[{[]/u.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return undefined;
  }
}
