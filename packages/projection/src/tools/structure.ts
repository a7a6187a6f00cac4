import { canonicalJson, setMember, sha256Hex } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isRecord } from "../safe/value.js";
import { readToolSchema } from "./schema.js";

/**
 * A schema of the closed dialect without its titles and descriptions; undefined for any other
 * schema.
 */
export function structureOf(schema: unknown): JsonObject | undefined {
  return readToolSchema(schema, "strip").schema;
}

/**
 * One fingerprint for all equivalent schemas: the order of members, of `required` and of `enum`,
 * and annotations, make no difference. `undefined` for a schema outside the dialect.
 */
export function fingerprintSchema(schema: unknown): string | undefined {
  const structure = structureOf(schema);
  if (structure === undefined) return undefined;
  return `agent-schema-v1:sha256:${sha256Hex(canonicalJson(sortSets(structure, false)))}`;
}

/** Property names are data: a property called `enum` holds a schema, not a set. */
function sortSets(value: JsonValue, isProperties: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((item) => sortSets(item, false));
  if (!isRecord(value)) return value;
  const sorted: JsonObject = {};
  for (const [name, member] of Object.entries(value as JsonObject)) {
    const isSet =
      !isProperties && (name === "required" || name === "enum") && Array.isArray(member);
    setMember(
      sorted,
      name,
      isSet
        ? [...(member as string[])].sort()
        : sortSets(member, !isProperties && name === "properties"),
    );
  }
  return sorted;
}
