import { isJsonObject, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { stringify } from "yaml";
import type { OatfDocument } from "../model/document.js";
import { normalize } from "../normalize/normalize.js";
import { LAYOUT } from "./layout.js";
import type { Layout } from "./layout.js";

/**
 * The canonical YAML of a document: normalised, fields in the order of the specification, block style.
 * Content of the protocol keeps its order. Texts that an older YAML reader would take for a date or a
 * truth value are quoted.
 */
export function serialize(document: OatfDocument): string {
  return stringify(arrange(normalize(document) as unknown as JsonObject, LAYOUT), {
    aliasDuplicateObjects: false,
    blockQuote: "literal",
    compat: "yaml-1.1",
    lineWidth: 0,
    version: "1.2",
  });
}

function arrange(value: JsonValue, layout: Layout): JsonValue {
  if (Array.isArray(value)) {
    return layout.items === undefined
      ? value
      : value.map((item) => arrange(item, layout.items ?? {}));
  }
  if (!isJsonObject(value) || layout.fields === undefined) return value;
  const ordered: JsonObject = {};
  for (const [key, inner] of Object.entries(layout.fields)) {
    const child = Object.hasOwn(value, key) ? value[key] : undefined;
    if (child !== undefined) setMember(ordered, key, arrange(child, inner));
  }
  for (const [key, child] of Object.entries(value)) {
    if (!Object.hasOwn(layout.fields, key)) setMember(ordered, key, child);
  }
  return ordered;
}
