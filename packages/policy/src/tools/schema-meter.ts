import type { JsonObject } from "@countersign/core";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { follow, subschemas } from "./schema-bounds.js";

/** Maximum number of references that one check may follow. */
export const MAX_REFERENCES_FOLLOWED = 50_000;

const METER = "countersign-meter";

/**
 * Limits the number of references that one check follows.
 *
 * The cost of a schema at one position of a value is bounded at compile time. But alternatives that
 * refer to the same definition double at every level of the value: three lines of schema and 40
 * brackets take years. An agent may send the schema and a browser the brackets. Without references
 * a schema is a tree, and no part of it checks a value twice.
 */
export function addMeter(
  ajv: Ajv2020,
  schema: JsonObject,
): { readonly metered: JsonObject; reset(): void } {
  let left = MAX_REFERENCES_FOLLOWED;
  ajv.addKeyword({
    keyword: METER,
    // Before everything that could go deeper, since a failure ends the rest.
    before: "$ref",
    errors: false,
    validate: () => {
      left -= 1;
      if (left < 0) throw new RangeError("the check follows too many references");
      return true;
    },
  });
  const metered = structuredClone(schema);
  const targets = new Set<JsonObject>();
  for (const { $ref: reference } of subschemas(metered)) {
    if (typeof reference === "string") targets.add(follow(metered, reference) as JsonObject);
  }
  for (const target of targets) {
    // A boolean schema has nothing to follow.
    if (typeof target === "object") target[METER] = true;
  }
  return {
    metered,
    reset: () => {
      left = MAX_REFERENCES_FOLLOWED;
    },
  };
}
