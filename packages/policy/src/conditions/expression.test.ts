import { expect, test } from "vitest";
import type { JsonObject } from "@countersign/core";
import { compileCondition } from "./expression.js";
import { layered, toCelInput } from "./json-view.js";

const bound = (values: { [name: string]: JsonObject }) => (name: string) => {
  const value = values[name];
  return value === undefined ? undefined : toCelInput(value);
};

const event = {
  type: "CUSTOM",
  name: "acme.toast",
  nothing: null,
  value: { n: 3, url: "https://evil.example/x", items: [1, 2, 3] },
};

test.each([
  ['event.type == "CUSTOM"', true],
  ["event.value.n + 1 == 4", true],
  ['event.value.url.matches("^https://(www[.])?good[.]example/")', false],
  ['matches(event.value.url, "(?i)EVIL")', true],
  ["event.value.items.all(x, x < 4)", true],
  ["event.value.items.exists(x, x == 2) && size(event.value.items) == 3", true],
  ["has(event.value.missing)", false],
  ["has(session.user)", false],
  ["has(event.nothing) || 'nothing' in event", false],
  ["event.nothing == null", true],
  ['event.name.startsWith("acme.") && event.name.contains("toast")', true],
  ['"constructor" in event', false],
])("%s is %s", (source, expected) => {
  expect(compileCondition(source).evaluate(bound({ event }))).toBe(expected);
});

test.each(["event.value.missing == 1", "event.value.n", '"x"', "event.value.n == 1 / 0"])(
  "%s cannot be evaluated, which is neither true nor false",
  (source) => {
    expect(compileCondition(source).evaluate(bound({ event }))).toBeUndefined();
  },
);

test("a loop that takes too many steps has no result, even after an or", () => {
  const items = Array.from({ length: 400 }, (_, index) => index);
  const source =
    "event.items.all(a, event.items.all(b, event.items.all(c, a + b + c >= 0))) || true";
  expect(compileCondition(source).evaluate(bound({ event: { items } }))).toBeUndefined();
});

test.each([
  ["evnt.type == 'x'", /unknown variable "evnt" \(did you mean "event"\?\)/],
  ["event.name.startWith('x')", /unknown function "startWith" \(did you mean "startsWith"\?\)/],
  ["event.name.matches(event.value)", /must be a string literal/],
  ["event.name.matches('(?=x)')", /./],
  ["event.name ==", /./],
  [`${"(".repeat(40)}true${")".repeat(40)}`, /nested/],
  ["event.a.all(a, event.a.all(b, event.a.all(c, event.a.all(d, true))))", /nested at most 3/],
])("%s is refused when the policy is loaded", (source, message) => {
  expect(() => compileCondition(source)).toThrow(message);
});

test("a pattern that makes backtracking engines hang answers at once", () => {
  const text = `${"a".repeat(50_000)}!`;
  expect(
    compileCondition("event.text.matches('^(a+)+$')").evaluate(bound({ event: { text } })),
  ).toBe(false);
});

test("brackets at the limit are parsed in reasonable time", () => {
  expect(compileCondition(`${"(".repeat(32)}true${")".repeat(32)}`).evaluate(bound({}))).toBe(true);
});

test("computed members hide those of the event and count as members", () => {
  const overlay = new Map([["type", (source: number) => source]]);
  const view = () => layered({ type: "x", name: "n" }, overlay, 7);
  const ask = (source: string) => compileCondition(source).evaluate(view);
  expect(ask("event.type == 7 && event.name == 'n' && size(event) == 2")).toBe(true);
  expect(ask("event.all(key, key in ['type', 'name'])")).toBe(true);
});
