import { isJsonObject, ownMember, parseLeniently, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { DataModel, dataSegments } from "./data-model.js";

const LITERALS = ["literalString", "literalNumber", "literalBoolean", "literalArray", "literal"];

/**
 * The properties of a component of A2UI 0.8 in the form of 0.9: literals without their wrapper, lists
 * of children and templates as in 0.9, actions as events.
 */
export function fromLegacy(value: JsonValue, key = ""): JsonValue {
  if (Array.isArray(value)) return value.map((item) => fromLegacy(item));
  if (!isJsonObject(value)) return value;
  if (key === "action") return legacyAction(value);
  const { explicitList, template } = value;
  if (Array.isArray(explicitList)) return explicitList;
  if (isJsonObject(template)) {
    return { componentId: template["componentId"] ?? "", path: template["dataBinding"] ?? "" };
  }
  if (!Object.hasOwn(value, "path")) {
    for (const name of LITERALS) if (Object.hasOwn(value, name)) return value[name] ?? null;
  }
  const copy: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) setMember(copy, name, fromLegacy(inner, name));
  return copy;
}

function legacyAction(action: JsonObject): JsonValue {
  const { name, context } = action;
  if (name === undefined) return action;
  const entries: JsonObject = {};
  for (const entry of Array.isArray(context) ? context : []) {
    const key = ownMember(entry, "key");
    const value = ownMember(entry, "value");
    if (typeof key === "string" && value !== undefined) setMember(entries, key, fromLegacy(value));
  }
  return { event: { name, context: entries } };
}

/** The value of `contents` in a `dataModelUpdate`: pairs of a key and a typed value. */
export function legacyData(contents: JsonValue): JsonValue {
  if (!Array.isArray(contents)) return contents;
  const [first] = contents;
  if (contents.length === 1 && ownMember(first, "key") === ".") return typedValue(first) ?? {};
  const model = new DataModel(true);
  model.write([], {});
  for (const entry of contents) {
    const key = ownMember(entry, "key");
    const value = typedValue(entry);
    if (typeof key !== "string" || value === undefined) continue;
    model.write(dataSegments(key, true) ?? [], value);
  }
  return model.root ?? {};
}

function typedValue(entry: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(entry)) return undefined;
  const name = Object.keys(entry).find((key) => key.startsWith("value"));
  const value = name === undefined ? undefined : entry[name];
  if (name === "valueMap" && Array.isArray(value)) return legacyData(value);
  if (typeof value !== "string" || !/^\s*(?:\{[^]*\}|\[[^]*\])\s*$/.test(value)) return value;
  // Renderers parse texts that look like JSON, with their own parser.
  return parseLeniently(value) ?? value;
}
