import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "@countersign/core";
import { compileArgumentSchema, compileResponseSchema } from "./argument-schema.js";

const refund: JsonObject = {
  type: "object",
  properties: {
    order_id: { type: "string", pattern: "^[0-9]{1,10}$" },
    amount: { type: "number", exclusiveMinimum: 0, maximum: 100 },
  },
  required: ["order_id", "amount"],
  additionalProperties: false,
};

test("arguments are held against the schema", () => {
  const check = compileArgumentSchema(refund);
  expect(check({ order_id: "1024", amount: 42.5 })).toBe(true);
  expect(check({ order_id: "1024", amount: 4250 })).toBe(false);
  expect(check({ order_id: "../etc", amount: 1 })).toBe(false);
  expect(check({ order_id: "1", amount: 1, extra: true })).toBe(false);
});

test("a pattern in a schema answers in linear time", () => {
  const check = compileArgumentSchema({ type: "string", pattern: "^(a+)+$" });
  expect(check(`${"a".repeat(50_000)}!`)).toBe(false);
});

test("a list from the outside is not an object because of its prototype", () => {
  const check = compileArgumentSchema({ type: "object", required: ["constructor"] });
  expect(check({})).toBe(false);
});

function doubling(levels: number): JsonObject {
  const definitions: JsonObject = {};
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    definitions[`d${level}`] = { allOf: [next, { ...next }] };
  }
  definitions[`d${levels}`] = { type: "object" };
  return { $defs: definitions, $ref: "#/$defs/d0" };
}

test.each<[string, JsonObject, RegExp]>([
  ["a remote reference", { $ref: "https://example.com/schema.json" }, /refer only to itself/],
  ["a missing reference", { $ref: "#/$defs/nowhere" }, /has no/],
  ["references that double", doubling(30), /too complex/],
  ["a reference to itself in place", { $ref: "#" }, /without going deeper/],
  ["unbounded uniqueItems", { type: "array", uniqueItems: true }, /uniqueItems/],
  ["an unknown keyword", { typ: "object" }, /unknown keyword/],
  ["an unknown format", { type: "string", format: "phone" }, /format/],
  ["a pattern RE2 refuses", { type: "string", pattern: "(?=x)" }, /./],
  ["an identifier", { $id: "https://example.com/a", type: "object" }, /not allowed/],
  ["a huge schema", { enum: Array.from({ length: 6000 }, (_, index) => index) }, /more than/],
])("%s is refused when the policy is loaded", (_, schema, message) => {
  expect(() => compileArgumentSchema(schema)).toThrow(message);
});

test("a recursive schema that goes deeper is allowed and ends", () => {
  const check = compileArgumentSchema({
    type: "object",
    properties: { child: { $ref: "#" } },
    additionalProperties: false,
  });
  expect(check({ child: { child: {} } })).toBe(true);
  expect(check({ child: { other: {} } })).toBe(false);
});

/** A list in a list in a list. */
const nested = (depth: number, inmost: JsonValue): JsonValue =>
  Array.from({ length: depth }).reduce<JsonValue>((inner) => [inner], inmost);
const again = { $ref: "#/$defs/n" };
const DOUBLING: readonly (readonly [string, JsonObject])[] = [
  ["items", { anyOf: [{ items: again }, { items: again, minItems: 1 }] }],
  ["what must not be", { not: { not: { items: again } }, items: again }],
  ["positions", { anyOf: [{ prefixItems: [again] }, { contains: again }] }],
  ["a condition", { if: { items: again }, else: { items: again } }],
];

test.each(DOUBLING)("alternatives that double at every level end: %s", (_name, node) => {
  const leaf = { anyOf: [{ type: "number" }, { type: "array", ...node }] };
  const schema = { ...again, $defs: { n: leaf } } as JsonObject;
  for (const compile of [compileArgumentSchema, compileResponseSchema]) {
    const check = compile(schema);
    expect(check(nested(60, "x"))).toBe(false);
    // A check that ran out of steps does not reduce the steps of the next one.
    expect(check(nested(3, 1))).toBe(true);
  }
});

test("a chain of definitions that doubles with the depth of a value ends too", () => {
  const $defs: Record<string, JsonObject> = { n60: { type: "number" } };
  for (let level = 0; level < 60; level += 1) {
    const next = { $ref: `#/$defs/n${level + 1}` };
    $defs[`n${level}`] = { anyOf: [{ items: next }, { items: next, minItems: 1 }] };
  }
  const check = compileResponseSchema({ $ref: "#/$defs/n0", $defs, type: "array" });
  expect(check(nested(60, "x"))).toBe(false);
});

test("a large value of a recursive schema is read to its end", () => {
  const tree = {
    type: "object",
    properties: { children: { type: "array", items: { $ref: "#" } } },
  };
  const leaves = (count: number): JsonValue[] => Array.from({ length: count }, () => ({}));
  const value = { children: leaves(100).map(() => ({ children: leaves(200) })) };
  expect(compileArgumentSchema(tree)(value)).toBe(true);
});
