import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { JsonValue } from "@countersign/core";
import { query as oracle } from "jsonpath-rfc9535";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EvaluationFailure } from "../evaluate/evaluation-error.js";
import { evaluateJsonPath } from "./evaluate.js";
import { compileJsonPath, MAX_SELECTOR_LENGTH, MAX_SELECTOR_NESTING } from "./parse.js";

type ComplianceCase = {
  readonly name: string;
  readonly selector: string;
  readonly document?: JsonValue;
  readonly result?: JsonValue[];
  readonly results?: JsonValue[][];
  readonly invalid_selector?: boolean;
};

function complianceCases(): readonly ComplianceCase[] {
  const library = createRequire(import.meta.url).resolve("jsonpath-rfc9535/package.json");
  const folder = join(dirname(library), "src/__tests__/jsonpath-compliance-test-suite");
  return JSON.parse(readFileSync(join(folder, "cts.json"), "utf8")).tests;
}

function run(selector: string, document: JsonValue): JsonValue[] {
  const { query, problem } = compileJsonPath(selector);
  if (query === undefined) throw new SyntaxError(problem);
  return [...evaluateJsonPath(query, document)];
}

test("every case of the JSONPath compliance suite has the published answer", () => {
  const cases = complianceCases();
  expect(cases.length).toBeGreaterThan(600);
  const wrong = cases.filter(({ selector, document, result, results, invalid_selector }) => {
    const { query } = compileJsonPath(selector);
    if (invalid_selector === true || query === undefined) {
      return (invalid_selector === true) !== (query === undefined);
    }
    const actual = JSON.stringify([...evaluateJsonPath(query, document as JsonValue)]);
    return ![result, ...(results ?? [])].some((allowed) => JSON.stringify(allowed) === actual);
  });
  expect(wrong.map(({ name, selector }) => `${name}: ${selector}`)).toEqual([]);
});

function sorted(nodes: readonly JsonValue[]): string {
  return nodes
    .map((node) => JSON.stringify(node))
    .toSorted()
    .join("\n");
}

const name = fc.constantFrom("a", "b", "c");
const segment = fc.oneof(
  name.map((key) => `.${key}`),
  fc.constantFrom(".*", "..*", "[0]", "[-1]", "[1:]", "[::-1]", "[0,1]"),
  name.map((key) => `..${key}`),
  fc.tuple(name, fc.integer({ min: 0, max: 3 })).map(([key, n]) => `[?@.${key} > ${n}]`),
);

test("generated queries answer as the reference library does", () => {
  const document = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer({ min: 0, max: 4 }),
      fc.constantFrom(null, true, "a", "xyz"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(document, fc.array(segment, { maxLength: 3 }), (value, segments) => {
      const selector = `$${segments.join("")}`;
      // RFC 9535, section 2.5.2.2, leaves the order of descendants open: a branch at a time, or a level at a time.
      const comparable = selector.includes("..") ? sorted : JSON.stringify;
      const theirs = oracle(value as never, selector) as JsonValue[];
      expect(comparable(run(selector, value))).toEqual(comparable(theirs));
    }),
    { numRuns: 200, examples: [[[{ a: [0] }, { a: 1 }], ["..*"]]] },
  );
});

test("inherited names are not members", () => {
  expect(run("$.constructor", {})).toEqual([]);
  expect(run("$[?@.toString]", [{}])).toEqual([]);
});

test("nested descendant filters end at the step budget", () => {
  const document = Array.from({ length: 300 }, () => [[1], [2]]);
  expect(() => run("$..[?$..[?$..[?@ == 9]]]", document)).toThrow(EvaluationFailure);
});

test("the first node of a large answer is found without looking at the rest", () => {
  const { query } = compileJsonPath("$..*");
  const document = Array.from({ length: 300_000 }, (_, index) => index);
  const [first] = evaluateJsonPath(query!, document);
  expect(first).toBe(0);
});

test("a selector may be as long and as nested as the limit, and no more", () => {
  const long = (length: number): string => `$.${"a".repeat(length - 2)}`;
  expect(compileJsonPath(long(MAX_SELECTOR_LENGTH)).query).toBeDefined();
  expect(compileJsonPath(long(MAX_SELECTOR_LENGTH + 1)).problem).toMatch(/longer/);
  const deep = (depth: number): string => `$${"[?@".repeat(depth)}${"]".repeat(depth)}`;
  expect(compileJsonPath(deep(MAX_SELECTOR_NESTING)).query).toBeDefined();
  expect(compileJsonPath(deep(MAX_SELECTOR_NESTING + 1)).problem).toMatch(/nested/);
});

test("patterns inside a query run on the linear engine", () => {
  expect(run("$[?match(@, '(a+)+b')]", [`${"a".repeat(20_000)}!`, "aab"])).toEqual(["aab"]);
});
