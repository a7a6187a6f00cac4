import { expect, test } from "vitest";
import type { JsonObject } from "@countersign/core";
import { compileCondition } from "./expression.js";
import type { ConditionBindings } from "./expression.js";
import { layered, toCelInput } from "./json-view.js";

const bound =
  (values: { [name: string]: JsonObject }): ConditionBindings =>
  (name, spend) => {
    const value = values[name];
    return value === undefined ? undefined : toCelInput(value, spend);
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
  const view: ConditionBindings = (_name, spend) =>
    layered({ type: "x", name: "n" }, overlay, 7, spend);
  const ask = (source: string) => compileCondition(source).evaluate(view);
  expect(ask("event.type == 7 && event.name == 'n' && size(event) == 2")).toBe(true);
  expect(ask("event.all(key, key in ['type', 'name'])")).toBe(true);
});

const items = (count: number, first: number | string = 0): (number | string)[] =>
  Array.from({ length: count }, (_, at) => (typeof first === "string" ? first + at : first + at));
const text = (length: number, last = "a"): string => "a".repeat(length - 1) + last;
const named = (count: number, last = 0): JsonObject =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`k${at}`, at < count - 1 ? 0 : last]),
  );

/** Expressions whose work grows with the product of two members of an event. */
test.each<[string, JsonObject]>([
  ["event.l.exists(i, i in event.m)", { l: items(3000, "a"), m: items(3000, "b") }],
  ["event.l.exists(i, event.l == event.m)", { l: items(3000), m: [...items(2999), -5] }],
  ["event.l.exists(i, event.l != event.l2 && i == -1)", { l: items(3000), l2: items(3000) }],
  ["event.l.exists(i, event.m.exists(j, true) && i == -1)", { l: items(3000), m: items(3000) }],
  [
    "event.l.exists(x, event.m.exists(y, x.exists(z, true) && y == -1))",
    { l: [items(3000)], m: items(3000) },
  ],
  ["event.l.exists(i, [event.l] == [event.m])", { l: items(3000), m: [...items(2999), -5] }],
  [
    "event.l.exists(i, event.t + event.t == event.u)",
    { l: items(300), t: text(50_000), u: text(100_000, "b") },
  ],
  [
    "event.l.exists(i, event.t == event.u)",
    { l: items(300), t: text(50_000), u: text(50_000, "b") },
  ],
  [
    "event.l.exists(i, event.t < event.u && i < 0)",
    { l: items(300), t: text(50_000), u: text(50_000, "b") },
  ],
  [
    "event.l.exists(i, event.u.startsWith(event.t) && i < 0)",
    { l: items(300), t: text(50_000), u: text(50_001) },
  ],
  ["event.t.contains(event.u)", { t: text(100_000), u: `${text(10_000, "b")}${text(10_000)}` }],
  ["event.l.exists(i, size(event.t) == 3)", { l: items(300), t: text(50_000) }],
  ["event.l.exists(i, event.t.size() == 3)", { l: items(300), t: text(50_000) }],
  ["event.l.exists(i, event.m.size() == 3)", { l: items(3000), m: named(3000) }],
  ["event.l.exists(i, event.m.exists(k, k == 'x'))", { l: items(3000), m: named(3000) }],
  ["event.l.exists(i, event.m == event.n)", { l: items(300), m: named(3000), n: named(3000, 1) }],
  ["int(event.t) == 3", { t: "9".repeat(100_000) }],
])("%s takes too many steps", (source, event) => {
  expect(compileCondition(source).evaluate(bound({ event }))).toBeUndefined();
});

test.each<[string, JsonObject, boolean]>([
  ["event.l.exists(i, i == -1)", { l: items(20_000) }, false],
  ["event.l.exists(i, event.l[0] == -1)", { l: items(3000) }, false],
  ["event.l.map(i, i + 1).exists(j, j == 8000)", { l: items(8000) }, true],
  ["event.l.filter(i, i > 5)[7993] == 7999", { l: items(8000) }, true],
  ["event.l.filter(i, i > 5).map(i, [i])[0] == [6]", { l: items(5000) }, true],
  ["event.l.map(i, event.l.map(j, i * j)) == [[0, 0], [0, 1]]", { l: items(2) }, true],
  ["event.l == event.m", { l: items(20_000), m: items(20_000) }, true],
  ["'b19999' in event.l", { l: items(20_000, "b") }, true],
  ["event.l.exists(i, i in ['x', 'b9999'])", { l: items(10_000, "b") }, true],
  ["event.t.contains('b')", { t: text(1_000_000, "b") }, true],
  ["event.t == 'b' || size(event.t) == 1000000", { t: text(1_000_000) }, true],
  ["event.m.exists(k, k == 'k9999')", { m: named(10_000) }, true],
])("%s is answered for large events", (source, event, expected) => {
  expect(compileCondition(source).evaluate(bound({ event }))).toBe(expected);
});

test("a computed member is computed once, however often a loop reads it", () => {
  let times = 0;
  const overlay = new Map([
    [
      "delta",
      () => {
        times += 1;
        return items(50);
      },
    ],
  ]);
  const view: ConditionBindings = (_name, spend) => layered({}, overlay, undefined, spend);
  const source = "event.delta.exists(a, event.delta.exists(b, a + b == -1))";
  expect(compileCondition(source).evaluate(view)).toBe(false);
  expect(times).toBe(1);
});
