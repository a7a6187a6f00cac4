import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { declareTools, fingerprintSchema, readToolSchema } from "./index.js";
import type { AgentSchema, SchemaIssueCode, ToolDefinition } from "./index.js";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const agent = (tools: ToolDefinition[], expose?: string[]): AgentSchema => ({
  projections: { agUi: expose === undefined ? { tools } : { tools, expose } },
});
const search: ToolDefinition = {
  name: "search",
  description: "Searches the shop.",
  parameters: object({ query: { type: "string", minLength: 1, description: "Words" } }),
};

test("B23: a declaration is the tool's name, description and schema, and nothing else of it", () => {
  const powerful = {
    ...search,
    execution: { domain: "host" },
    admission: { policy: "all" },
    quota: 1000,
    materials: ["key"],
    metadata: { authority: "root" },
  };
  expect(declareTools(agent([powerful]))).toEqual({
    tools: [
      {
        name: "search",
        description: "Searches the shop.",
        parameters: {
          type: "object",
          properties: { query: { type: "string", minLength: 1, description: "Words" } },
          additionalProperties: false,
        },
      },
    ],
    issues: [],
  });
});

test("declarations are sorted by name, from a list or a record with any keys", () => {
  const tools = { z: { ...search, name: "b" }, a: { ...search, name: "Z" }, c: search };
  const names = declareTools({ projections: { agUi: { tools } } }).tools.map(({ name }) => name);
  expect(names).toEqual(["Z", "b", "search"]);
});

test("an internal tool is not declared, not even when it is listed", () => {
  const internal = { ...search, name: "_submit_structured" };
  expect(declareTools(agent([internal, search])).tools).toHaveLength(1);
  expect(declareTools(agent([internal], ["_submit_structured"]))).toMatchObject({
    tools: [],
    issues: [{ issue: "name-internal" }],
  });
});

test("only exposed tools are declared, and an unknown name is reported", () => {
  const other = { ...search, name: "other" };
  expect(declareTools(agent([search, other], ["search", "absent"]))).toMatchObject({
    tools: [{ name: "search" }],
    issues: [{ tool: "absent", issue: "exposed-unknown" }],
  });
});

test("a tool with a bad or double name, no description or a bad schema is refused alone", () => {
  const { tools, issues } = declareTools(
    agent([
      search,
      { ...search, name: "two words" },
      { ...search, name: "twice" },
      { ...search, name: "twice" },
      { ...search, name: "mute", description: "" },
      { ...search, name: "odd", parameters: { type: "string" } },
      { name: "plain", description: "No parameters." },
    ]),
  );
  expect(tools.map(({ name }) => name)).toEqual(["plain", "search"]);
  expect(issues.map(({ tool, issue }) => `${tool}: ${issue}`)).toEqual([
    "two words: name-invalid",
    "twice: name-duplicate",
    "twice: name-duplicate",
    "mute: description-missing",
    "odd: root-object-required",
  ]);
});

test("a Standard Schema that can convert itself is a source; one that cannot is refused", () => {
  const parameters = z.object({
    query: z.string().min(1).describe("Words"),
    limit: z.int().optional(),
    sort: z.enum(["price", "name"]).nullable(),
  });
  const { tools, issues } = declareTools(agent([{ ...search, parameters }]));
  expect(issues).toEqual([]);
  expect(tools[0]?.parameters).toMatchObject({
    properties: {
      query: { type: "string", minLength: 1, description: "Words" },
      limit: { type: "integer" },
      sort: { anyOf: [{ type: "string", enum: ["price", "name"] }, { type: "null" }] },
    },
    required: ["query", "sort"],
    additionalProperties: false,
  });
  const mute = { "~standard": { version: 1, vendor: "x", validate: () => ({ value: 1 }) } };
  expect(declareTools(agent([{ ...search, parameters: mute }])).issues).toMatchObject([
    { issue: "source-unconvertible" },
  ]);
});

const ACCEPTED: [string, object, object][] = [
  [
    "a string",
    { type: "string", pattern: "^a", maxLength: 3 },
    { type: "string", pattern: "^a", maxLength: 3 },
  ],
  ["a literal", { const: "x" }, { type: "string", enum: ["x"] }],
  ["choices", { type: "string", enum: ["a", "b", "a"] }, { type: "string", enum: ["a", "b"] }],
  [
    "literals in a union",
    { anyOf: [{ const: "a" }, { const: "b" }] },
    { type: "string", enum: ["a", "b"] },
  ],
  ["a number", { type: "number", minimum: 0 }, { type: "number", minimum: 0 }],
  ["an integer", { type: "integer" }, { type: "integer" }],
  ["a boolean", { type: "boolean" }, { type: "boolean" }],
  [
    "a list",
    { type: "array", items: { type: "number" } },
    { type: "array", items: { type: "number" } },
  ],
  ["a nullable", { type: ["string", "null"] }, { anyOf: [{ type: "string" }, { type: "null" }] }],
  [
    "annotations",
    { type: "string", default: "x", examples: [1], $comment: "c", "x-ui": 1 },
    { type: "string" },
  ],
  [
    "a nested object",
    object({}, { additionalProperties: true }),
    object({}, { additionalProperties: false }),
  ],
];

test.each(ACCEPTED)("B31: the dialect supports %s", (_name, member, expected) => {
  const { schema, issues } = readToolSchema(object({ p: member }, { $schema: "s", $id: "i" }));
  expect(issues).toEqual([]);
  expect(schema).toEqual({
    type: "object",
    properties: { p: expected },
    additionalProperties: false,
  });
});

const REFUSED: [SchemaIssueCode, string, unknown][] = [
  ["expected-object", "/properties/p", 5],
  ["missing", "/properties/p/type", {}],
  ["unsupported", "/properties/p/type", { type: "date" }],
  ["unsupported", "/properties/p/type", { type: ["string", "number"] }],
  ["unsupported-key", "/properties/p/oneOf", { type: "string", oneOf: [] }],
  ["unsupported-key", "/properties/p/$schema", { type: "string", $schema: "x" }],
  ["recursive-schema-unsupported", "/properties/p/$ref", { $ref: "#" }],
  ["recursive-schema-unsupported", "/properties/p/$defs", { type: "string", $defs: {} }],
  ["refinement-unsupported", "/properties/p/format", { type: "string", format: "email" }],
  ["refinement-unsupported", "/properties/p/multipleOf", { type: "number", multipleOf: 2 }],
  [
    "transformation-unsupported",
    "/properties/p/contentEncoding",
    { type: "string", contentEncoding: "base64" },
  ],
  [
    "index-signature-unsupported",
    "/properties/p/additionalProperties",
    object({}, { additionalProperties: {} }),
  ],
  [
    "index-signature-unsupported",
    "/properties/p/patternProperties",
    object({}, { patternProperties: {} }),
  ],
  [
    "expected-boolean",
    "/properties/p/additionalProperties",
    object({}, { additionalProperties: 1 }),
  ],
  ["expected-object", "/properties/p/properties", { type: "object", properties: [] }],
  ["expected-string-array", "/properties/p/required", object({}, { required: [1] })],
  ["missing", "/properties/p/required/0", object({}, { required: ["absent"] })],
  ["tuple-unsupported", "/properties/p", { type: "array", items: [{ type: "string" }] }],
  ["tuple-unsupported", "/properties/p", { type: "array", prefixItems: [] }],
  ["array-item-missing", "/properties/p/items", { type: "array" }],
  ["empty-union-unsupported", "/properties/p/anyOf", { anyOf: [] }],
  ["empty-union-unsupported", "/properties/p/anyOf", { anyOf: [{ type: "null" }] }],
  ["expected-non-empty-array", "/properties/p/anyOf", { anyOf: {} }],
  ["expected-non-empty-array", "/properties/p/enum", { enum: [] }],
  ["null-literal-unsupported", "/properties/p", { type: "null" }],
  ["null-literal-unsupported", "/properties/p/enum", { const: null }],
  ["non-string-literal-unsupported", "/properties/p/enum", { const: 5 }],
  ["expected-string", "/properties/p/pattern", { type: "string", pattern: 5 }],
  ["invalid-regex", "/properties/p/pattern", { type: "string", pattern: "(" }],
  ["expected-non-negative-integer", "/properties/p/minLength", { type: "string", minLength: -1 }],
  ["exceeds-maxLength", "/properties/p/minLength", { type: "string", minLength: 3, maxLength: 2 }],
  ["expected-number", "/properties/p/minimum", { type: "number", minimum: "1" }],
  ["exceeds-maximum", "/properties/p/minimum", { type: "number", minimum: 3, maximum: 2 }],
  ["expected-string", "/properties/p/description", { type: "string", description: 5 }],
];

test.each(REFUSED)("B31: refused as %s at %s", (issue, path, member) => {
  const { schema, issues } = readToolSchema(object({ p: member }));
  expect(schema).toBeUndefined();
  expect(issues).toContainEqual({ path, issue });
});

test("depth, members and texts are bounded: at the limit, one over", () => {
  const nested = (depth: number): JsonObject =>
    depth === 0 ? { type: "string" } : { type: "array", items: nested(depth - 1) };
  expect(readToolSchema(object({ p: nested(15) })).issues).toEqual([]);
  expect(readToolSchema(object({ p: nested(16) })).issues).toMatchObject([
    { issue: "exceeds-limit" },
  ]);
  const wide = (count: number) =>
    object(
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: "string" }])),
    );
  expect(readToolSchema(wide(256)).issues).toEqual([]);
  expect(readToolSchema(wide(257)).issues).toMatchObject([{ issue: "exceeds-limit" }]);
  const worded = (length: number) => object({ p: { type: "string", title: "x".repeat(length) } });
  expect(readToolSchema(worded(4096)).issues).toEqual([]);
  expect(readToolSchema(worded(4097)).issues).toMatchObject([{ issue: "exceeds-limit" }]);
});

test("a property named __proto__ stays a property", () => {
  const source = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
  ) as object;
  const { schema } = readToolSchema(source);
  expect(JSON.stringify(schema)).toContain('"properties":{"__proto__":{"type":"string"}}');
});

test("B31: equivalent schemas have one fingerprint, others another", () => {
  const first = object(
    { a: { type: "string", enum: ["x", "y"] }, b: { type: "number" } },
    { required: ["a", "b"] },
  );
  const same = {
    required: ["b", "a"],
    description: "words",
    properties: { b: { type: "number", title: "B" }, a: { enum: ["y", "x"], type: "string" } },
    type: "object",
  };
  expect(fingerprintSchema(first)).toMatch(/^agent-schema-v1:sha256:[0-9a-f]{64}$/);
  expect(fingerprintSchema(same)).toBe(fingerprintSchema(first));
  expect(fingerprintSchema(object({ a: { type: "string" } }))).not.toBe(fingerprintSchema(first));
  expect(fingerprintSchema({ type: "string" })).toBeUndefined();
});
