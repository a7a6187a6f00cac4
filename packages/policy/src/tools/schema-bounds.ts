import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** Maximum number of values in an argument schema. */
export const MAX_SCHEMA_NODES = 5000;
/** Maximum number of sub-schemas that one value is checked against at once, references followed. */
export const MAX_SCHEMA_WEIGHT = 2000;
/** The maximum list length for `uniqueItems`, which compares every pair. */
export const MAX_UNIQUE_ITEMS = 1000;

const IN_PLACE_LISTS = ["allOf", "anyOf", "oneOf"];
const IN_PLACE_SINGLE = ["not", "if", "then", "else"];

/**
 * Rejects schemas that refer outside the policy or cost more than a bounded amount per value.
 *
 * @throws Error with a message for the author
 */
export function assertBoundedSchema(schema: JsonObject): void {
  assertPlain(schema);
  const weigher = createWeigher(schema);
  for (const subschema of subschemas(schema)) weigher(subschema);
}

function assertPlain(root: JsonObject): void {
  let nodes = 0;
  for (const value of walk(root)) {
    nodes += 1;
    if (nodes > MAX_SCHEMA_NODES) {
      throw new RangeError(`the schema has more than ${MAX_SCHEMA_NODES} values`);
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) continue;
    for (const keyword of ["$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"]) {
      if (typeof value[keyword] === "string") {
        throw new TypeError(`${keyword} is not allowed in a schema for arguments`);
      }
    }
    const reference = value["$ref"];
    if (typeof reference === "string" && reference !== "#" && !reference.startsWith("#/")) {
      throw new TypeError("a schema for arguments may refer only to itself (#/…)");
    }
    if (value["uniqueItems"] === true) {
      const bound = value["maxItems"];
      if (typeof bound !== "number" || bound > MAX_UNIQUE_ITEMS) {
        throw new RangeError(`uniqueItems needs maxItems of at most ${MAX_UNIQUE_ITEMS}`);
      }
    }
  }
}

// Chains of references to pairs of references double at every step: 30 short definitions, 2^30
// checks.
function createWeigher(root: JsonObject): (schema: JsonObject) => number {
  const known = new Map<JsonObject, number>();
  const open = new Set<JsonObject>();
  const weigh = (schema: JsonValue | undefined): number => {
    if (schema === undefined || schema === null) return 0;
    if (typeof schema !== "object" || Array.isArray(schema)) return 0;
    const done = known.get(schema);
    if (done !== undefined) return done;
    if (open.has(schema)) throw new RangeError("the schema refers to itself without going deeper");
    open.add(schema);
    let weight = 1;
    for (const keyword of IN_PLACE_LISTS) {
      const list = schema[keyword];
      if (Array.isArray(list)) for (const entry of list) weight += weigh(entry);
    }
    for (const keyword of IN_PLACE_SINGLE) weight += weigh(schema[keyword]);
    const dependent = schema["dependentSchemas"];
    if (dependent !== undefined && dependent !== null && typeof dependent === "object") {
      for (const entry of Object.values(dependent)) weight += weigh(entry);
    }
    const reference = schema["$ref"];
    if (typeof reference === "string") weight += weigh(follow(root, reference));
    if (weight > MAX_SCHEMA_WEIGHT) throw new RangeError("the schema is too complex");
    open.delete(schema);
    known.set(schema, weight);
    return weight;
  };
  return weigh;
}

/** The target of a reference within a schema. */
export function follow(root: JsonObject, reference: string): JsonValue {
  let at: JsonValue | undefined = root;
  for (const segment of reference.split("/").slice(1)) {
    const key = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    if (at === null || typeof at !== "object") at = undefined;
    else if (Array.isArray(at)) at = at[Number(key)];
    else at = Object.hasOwn(at, key) ? at[key] : undefined;
    if (at === undefined) throw new TypeError(`the schema has no ${reference.slice(0, 100)}`);
  }
  return at;
}

/** Every object in a schema: more than its sub-schemas, never fewer. */
export function* subschemas(root: JsonObject): Generator<JsonObject> {
  for (const value of walk(root)) {
    if (isJsonObject(value)) yield value;
  }
}

function* walk(root: JsonValue): Generator<JsonValue> {
  const stack: JsonValue[] = [root];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    yield value;
    if (value !== null && typeof value === "object") stack.push(...Object.values(value));
  }
}
