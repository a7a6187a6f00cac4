import type { JsonValue } from "@countersign/core";
import { MAX_CEL_BRACKETS } from "@countersign/core/cel";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createCelEvaluator } from "./evaluator.js";
import { inspectCel, MAX_CEL_LENGTH } from "./parse-source.js";

const cel = createCelEvaluator();

function ask(
  source: string,
  message: JsonValue,
  variables: Record<string, JsonValue> = {},
): unknown {
  const result = cel.evaluate(source, new Map(Object.entries({ message, ...variables })));
  return result.kind === "value" ? result.value : "error";
}

const message = {
  toolCallName: "transfer_funds",
  n: 3,
  half: 0.5,
  big: 1e300,
  none: null,
  messages: [
    { role: "user", content: "hi" },
    { role: "tool", content: "the SECRET is 7" },
  ],
  state: { admin: true },
};

test.each([
  ['message.toolCallName == "transfer_funds"', true],
  ['message.messages.exists(m, m.role == "tool" && m.content.contains("SECRET"))', true],
  ["has(message.state.admin) && message.state.admin == true", true],
  ["has(message.nothing)", false],
  ["has(message.none)", true],
  ["message.none == null", true],
  ['"none" in message', true],
  ["message.n + 1 == 4", true],
  ["message.n % 2 == 1", true],
  ["message.n / 2 == 1", true],
  ["message.half < 1.0", true],
  ["message.big > 1.0", true],
  ["size(message.messages) == 2", true],
  ['size("é☺") == 2', true],
  ['message.toolCallName.startsWith("transfer") && message.toolCallName.endsWith("funds")', true],
  ['message.toolCallName.matches("^trans(fer)?_")', true],
  ['matches(message.toolCallName, "(?i)FUNDS$")', true],
  ["message.messages.map(m, m.role) == ['user', 'tool']", true],
  ["message.messages.filter(m, m.role == 'tool').size() == 1", true],
  ["message.messages.all(m, m.content != '')", true],
  ["message.messages.map(m, m.role)[1]", "tool"],
  ['"constructor" in message', false],
  ["has(message.toString)", false],
  ["message.nothing == 1 || true", true],
  ["message.nothing == 1 && false", false],
])("%s is %s", (source, expected) => {
  expect(ask(source, message)).toBe(expected);
});

test.each([
  "message.nothing == 1",
  "has(message.nothing.deeper)",
  "message.constructor == 1",
  "unknown == 1",
  "message.n.nope()",
  "1 / 0 == 1",
  'message.toolCallName.matches("(?=x)")',
  "((",
])("%s is an error, not an answer", (source) => {
  expect(ask(source, message)).toBe("error");
});

test("a variable may be null and can be compared with it", () => {
  expect(ask("v == null", message, { v: null })).toBe(true);
});

const hundreds = Array.from({ length: 400 }, (_, index) => index);
const long = "a".repeat(200_000);

test.each<[string, string, JsonValue]>([
  ["nested loops", "message.all(a, message.all(b, message.all(c, a + b + c >= 0)))", hundreds],
  [
    "nested loops behind an or",
    "message.all(a, message.all(b, message.all(c, a + b + c < 0))) || message.all(a, message.all(b, message.all(c, true))) || true",
    hundreds,
  ],
  [
    "comparing large values again and again",
    "message.a.all(x, message.a == message.b)",
    { a: hundreds, b: [...hundreds] },
  ],
  ["searching lists again and again", "message.all(a, !(-1 in message))", hundreds],
  [
    "searching long text again and again",
    "message.l.all(x, !message.t.contains('b'))",
    { l: hundreds, t: long },
  ],
  [
    "matching long text again and again",
    "[message.t].all(t, message.l.all(x, !t.matches('b')))",
    { l: hundreds, t: long },
  ],
  ["building long lists", "message.map(a, message.map(b, a)).size() == 1", hundreds],
  [
    "walking a built list",
    "[message.map(a, a)].all(m, message.all(b, m.all(c, c == c)))",
    hundreds,
  ],
  [
    "patterns taken from the message",
    "message.all(p, !'x'.matches(string(p) + 'y{500}'))",
    hundreds,
  ],
])("%s ends at the budget as an error", (_title, source, value) => {
  expect(ask(source, value)).toBe("error");
});

test("the budget is fresh for each evaluation", () => {
  expect(ask("message.all(a, message.all(b, message.all(c, true)))", hundreds)).toBe("error");
  expect(ask("message.all(a, a >= 0)", hundreds)).toBe(true);
});

test("time ends an evaluation too, when steps do not", () => {
  let time = 0;
  const slow = createCelEvaluator({ now: () => (time += 600) });
  const result = slow.evaluate("message.all(a, a >= 0)", new Map([["message", hundreds]]));
  expect(result.kind).toBe("error");
});

test("a pattern that hangs backtracking engines answers at once", () => {
  expect(ask("message.matches('^(a+)+$')", `${"a".repeat(50_000)}!`)).toBe(false);
});

test.each([
  ["too long", `message == '${"x".repeat(MAX_CEL_LENGTH)}'`, /longer/],
  ["too many brackets", "(".repeat(MAX_CEL_BRACKETS + 1), /nested/],
  ["too many parts", `true${"||a".repeat(1200)}`, /parts/],
  ["no expression", "a b", /./],
])("an expression that is %s is refused before it runs", (_title, source, problem) => {
  expect(inspectCel(source, []).problem).toMatch(problem);
  expect(ask(source, null)).toBe("error");
});

test("brackets at the limit are fine, and those inside text do not count", () => {
  const nested = "(".repeat(MAX_CEL_BRACKETS) + "true" + ")".repeat(MAX_CEL_BRACKETS);
  expect(ask(nested, null)).toBe(true);
  expect(ask(`"${"(".repeat(99)}" != r'\\'`, null)).toBe(true);
  expect(ask(`"""${'"('.repeat(40)}""" != ""`, null)).toBe(true);
  expect(ask(`// ${"(".repeat(99)} "\ntrue`, null)).toBe(true);
  // A quote in a comment must not hide the brackets after it.
  expect(inspectCel(`// "\n${"(".repeat(40)}true`, []).problem).toMatch(/nested/);
  // Closing brackets in text must not hide opening ones outside it.
  expect(inspectCel(`${'")"+('.repeat(40)}true`, []).problem).toMatch(/nested/);
});

test("unbound names are found, names of loops and types are not", () => {
  const found = inspectCel(
    "mesage.a == 1 || message.l.exists(x, x == y) || type(z) == int || foo(1)",
    ["z"],
  );
  expect(found.unknownNames).toEqual(["mesage", "y", "foo"]);
});

test("any expression and any message end without throwing", () => {
  const part = fc.constantFrom(
    "message",
    ".a",
    "[0]",
    "(",
    ")",
    " == ",
    "1",
    "'x'",
    " && ",
    "!",
    "has(",
    ".all(x, ",
    "size(",
    ".matches(",
    ", ",
    "{",
    "}",
    "?",
    ":",
    "-",
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.jsonValue({ maxDepth: 3 }),
      (parts, value) => {
        expect(() => ask(parts.join(""), value as JsonValue)).not.toThrow();
      },
    ),
    { numRuns: 300 },
  );
});
