import { isCountersignError } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_OATF_LIMITS } from "../limits.js";
import { load, loadDocument } from "../load.js";
import { withExecution } from "../testing/sample.js";
import { parse } from "./parse.js";

function limitOf(text: string, limits = {}): string | undefined {
  const result = parse(text, limits);
  return result.ok ? undefined : result.errors[0]?.limit?.name;
}

const inState = (value: string): string =>
  withExecution(`{mode: ag_ui_client, state: {a: ${value}}}`);

test.each([
  ["flow lists", `a: ${"[".repeat(100_000)}`, "maxDepth"],
  ["flow mappings", "{a: ".repeat(50_000), "maxDepth"],
  ["compact lists", `${"- ".repeat(50_000)}a`, "maxDepth"],
  ["compact keys", "? ".repeat(20_000), "maxDepth"],
  [
    "indented mappings",
    Array.from({ length: 1000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
    "maxDepth",
  ],
  ["a long list", `a: [${"1,".repeat(400_000)}]`, "maxNodes"],
  [
    "many keys",
    Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join("\n"),
    "maxNodes",
  ],
  ["a long text", `a: "${"x".repeat(2_000_000)}"`, "maxTextLength"],
])("%s end at a bound", (_title, text, limit) => {
  expect(limitOf(text)).toBe(limit);
});

test("an alias bomb does not unfold, and the document is refused for its first alias", () => {
  const levels = [..."abcdefghij"];
  const lists = levels.map((name, index) => {
    const previous = levels[index - 1];
    const items = previous === undefined ? "x" : Array(9).fill(`*${previous}`).join(",");
    return `${name}: &${name} [${items}]`;
  });
  const text = inState(`{${lists.join(", ")}}`);
  const parsed = parse(text);
  expect(JSON.stringify(parsed).length).toBeLessThan(100_000);
  expect(load(text)).toMatchObject({ ok: false, stage: "validate" });
  const { errors } = load(text) as { errors: readonly { rule: string }[] };
  expect(new Set(errors.map(({ rule }) => rule))).toEqual(new Set(["V-020"]));
});

test("an alias that contains itself ends", () => {
  const result = load(inState("&x [*x]"));
  expect(result).toMatchObject({
    ok: false,
    stage: "validate",
    errors: [{ rule: "V-020" }, { rule: "V-020" }],
  });
});

test("the text may be as long as the limit, and not a character longer", () => {
  const text = inState("1");
  expect(limitOf(text, { maxTextLength: text.length })).toBeUndefined();
  expect(limitOf(text, { maxTextLength: text.length - 1 })).toBe("maxTextLength");
});

test("nesting may be as deep as the limit, and no deeper", () => {
  // The list stands below attack, execution, state and a.
  const nested = (depth: number): string => inState("[".repeat(depth) + "]".repeat(depth));
  expect(limitOf(nested(DEFAULT_OATF_LIMITS.maxDepth - 3))).toBeUndefined();
  expect(limitOf(nested(DEFAULT_OATF_LIMITS.maxDepth - 2))).toBe("maxDepth");
});

test("there may be as many values as the limit, and no more", () => {
  // Eight values stand around the list: root, oatf, attack, execution, mode, state, the list itself.
  const list = (count: number): string => inState(`[${Array(count).fill("1").join(", ")}]`);
  const { maxNodes } = DEFAULT_OATF_LIMITS;
  expect(limitOf(list(maxNodes - 7))).toBeUndefined();
  expect(limitOf(list(maxNodes - 6))).toBe("maxNodes");
});

test("brackets inside text are not nesting", () => {
  const brackets = "[{(".repeat(10_000);
  expect(parse(inState(`"${brackets}"`)).ok).toBe(true);
  expect(parse(inState(`'${brackets}'`)).ok).toBe(true);
  const block = `oatf: "0.1"\nattack:\n  description: |\n    ${brackets}\n  execution: {mode: ag_ui_client, state: {}}\n`;
  expect(parse(block).ok).toBe(true);
});

test.each([
  [`a: ${"[".repeat(1000)}`, "ERR_OATF_LIMIT"],
  ["oatf: [", "ERR_OATF_PARSE"],
  ["oatf: '0.9'", "ERR_OATF_INVALID"],
] as const)("what cannot be used is a coded error", (text, code) => {
  let thrown: unknown;
  try {
    loadDocument(text);
  } catch (error) {
    thrown = error;
  }
  expect(isCountersignError(thrown, code)).toBe(true);
});

test("any text parses or is refused, and never throws", () => {
  const piece = fc.constantFrom(
    "oatf",
    ":",
    " ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a",
    "*a",
    "!t",
    "|",
    ">",
    '"',
    "'",
    "#",
    "%",
    "---",
    "?",
    ",",
    "<<",
    "1",
    "\t",
    "\u0000",
    "\uD800",
    "é",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(load(pieces.join(""))).toHaveProperty("ok");
    }),
    { numRuns: 500 },
  );
});
