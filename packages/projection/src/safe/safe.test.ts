import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Disclosure } from "./disclosure.js";
import type { DisclosureSpec } from "./disclosure.js";
import { createScrubberFactory, scrubText } from "./scrub.js";
import { summarise } from "./summary.js";
import { safeValueFromUnknown } from "./value.js";

test("one unsafe part makes the whole value unsafe", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const unsafe = [
    Number.NaN,
    Infinity,
    2 ** 60,
    undefined,
    () => 1,
    new Date(),
    new Map(),
    5n,
    cycle,
    { [Symbol("x")]: 1 },
    Object.defineProperty({}, "x", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    }),
  ];
  for (const part of unsafe) {
    expect(safeValueFromUnknown(part)).toBeUndefined();
    expect(safeValueFromUnknown({ list: [1, { part }] })).toBeUndefined();
  }
});

test("plain JSON is copied, shares nothing, and keeps a member named __proto__ as data", () => {
  const source = JSON.parse('{"a":[1,null,"x"],"__proto__":{"b":true}}') as object;
  const copied = safeValueFromUnknown(source);
  expect(JSON.stringify(copied)).toBe(JSON.stringify(source));
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
  expect((copied as { a: unknown }).a).not.toBe((source as { a: unknown }).a);
});

test("nesting and size are bounded: at the limit, one over", () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  expect(safeValueFromUnknown(nested(32))).toBeDefined();
  expect(safeValueFromUnknown(nested(33))).toBeUndefined();
  expect(safeValueFromUnknown(Array.from({ length: 99_999 }, () => 0))).toBeDefined();
  expect(safeValueFromUnknown(Array.from({ length: 100_000 }, () => 0))).toBeUndefined();
});

test("a summary contains the type and a bound of the size, never a length or an undeclared name", () => {
  expect(summarise("secret", "run_input")).toEqual({
    redacted: true,
    reason: "run_input",
    type: "string",
    bytesUpTo: 16,
  });
  const text = (length: number) => summarise("x".repeat(length), "run_input")["bytesUpTo"];
  expect([0, 16, 17, 64, 65].map(text)).toEqual([16, 16, 64, 64, 256]);
  expect(summarise([1, 2, 3, 4, 5], "tool_result")).toMatchObject({ type: "array", itemsUpTo: 16 });
  expect(summarise({ "ada@example.org": 1 }, "tool_result")).toEqual({
    redacted: true,
    reason: "tool_result",
    type: "object",
  });
  const declaredKeys = new Set(["path", "mode", "absent"]);
  expect(
    summarise({ path: 1, mode: 2, "ada@example.org": 3 }, "tool_arguments", { declaredKeys }),
  ).toMatchObject({ keys: ["mode", "path"] });
  expect(summarise("é", "run_input", { sizes: "exact" })).toMatchObject({ bytes: 2 });
  expect(summarise("é", "run_input", { sizes: "none" })).not.toHaveProperty("bytes");
  for (const value of [null, 5, true, undefined]) {
    expect(Object.keys(summarise(value, "run_input"))).toEqual(["redacted", "reason", "type"]);
  }
});

test("at most 64 declared names are listed", () => {
  const names = Array.from({ length: 70 }, (_, index) => `k${index}`);
  const value = Object.fromEntries(names.map((name) => [name, 1]));
  const keys = summarise(value, "tool_arguments", { declaredKeys: new Set(names) })["keys"];
  expect(keys).toHaveLength(64);
});

const shown = (spec: DisclosureSpec, value: unknown) =>
  new Disclosure(spec).toolArguments("pay", JSON.stringify(value));
const payment = {
  amount: 5,
  card: "4111",
  person: { name: "Ada", mail: "a@x" },
  lines: [{ sku: "s1", cost: 9 }, { sku: "s2" }],
};

test("a policy discloses the fields it names, each by its rule, and nothing else", () => {
  const spec: DisclosureSpec = {
    hashKey: "pepper",
    tools: {
      pay: {
        arguments: {
          fields: {
            "/amount": "reveal",
            "/card": "mask",
            "/person/mail": "hash",
            "/person/name": "omit",
            "/lines/*/sku": "reveal",
            "/absent": "reveal",
          },
        },
      },
    },
  };
  const { value, redacted } = shown(spec, payment);
  expect(redacted).toBe(true);
  expect(value).toEqual({
    amount: 5,
    card: "[masked]",
    person: { mail: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    lines: [{ sku: "s1" }, { sku: "s2" }],
  });
  expect(shown(spec, { ...payment, card: "another, longer" }).value).toMatchObject({
    card: "[masked]",
  });
});

test("the same value has another hash under another key", () => {
  const hash = (hashKey: string) =>
    shown({ hashKey, tools: { pay: { arguments: "hash" } } }, payment).value;
  expect(hash("a")).toBe(hash("a"));
  expect(hash("a")).not.toBe(hash("b"));
});

test("a revealed value is still scrubbed, in text and in names", () => {
  const spec: DisclosureSpec = {
    scrub: { literals: ["Ada"] },
    tools: { pay: { arguments: "reveal" } },
  };
  const { value, redacted } = shown(spec, { note: "Ada paid", Ada: 1, keep: [true, 2] });
  expect(redacted).toBe(false);
  expect(value).toEqual({ note: "[redacted] paid", keep: [true, 2] });
});

test("arguments that are not JSON are not shown, whatever the policy", () => {
  const disclosure = new Disclosure({ tools: { pay: { arguments: "reveal" } } });
  expect(disclosure.toolArguments("pay", '{"card":')).toMatchObject({
    redacted: true,
    value: { type: "string" },
  });
});

test("a revealed value too large for a frame becomes a summary", () => {
  const disclosure = new Disclosure({ tools: { pay: { result: "reveal" } } });
  const size = 1024 * 1024 - 2;
  expect(disclosure.toolResult("pay", "x".repeat(size)).redacted).toBe(false);
  expect(disclosure.toolResult("pay", "x".repeat(size + 1)).redacted).toBe(true);
});

test("an invalid policy is the caller's mistake", () => {
  const bad: DisclosureSpec[] = [
    { runInput: "hash" },
    { runInput: "show" as never },
    { tools: { pay: { result: { fields: { amount: "reveal" } } } } },
    { scrub: { literals: [""] } },
    { scrub: { patterns: [/x*/] } },
  ];
  for (const spec of bad) expect(() => new Disclosure(spec)).toThrow(TypeError);
});

test("names of declared parameters may appear in a summary, others may not", () => {
  const parameters = { type: "object", properties: { amount: { type: "number" } } };
  const declarations = [{ name: "pay", description: "", parameters }];
  expect(shown({ declarations }, payment).value).toEqual({
    redacted: true,
    reason: "tool_arguments",
    type: "object",
    keys: ["amount"],
  });
});

test("a path is shown only below an allowed root, a command only when it is listed", () => {
  const disclosure = new Disclosure({
    workspace: { commands: ["npm test"], pathRoots: ["/srv/app"] },
  });
  expect(disclosure.path("/srv/app/src/a.ts")).toBe("/srv/app/src/a.ts");
  for (const path of ["/srv/application", "/srv/app/../../etc", "/etc", "\\srv\\app", 5]) {
    expect(disclosure.path(path)).toMatchObject({ redacted: true });
  }
  expect(disclosure.command("npm test")).toBe("npm test");
  expect(disclosure.command("npm test; curl evil")).toMatchObject({ redacted: true });
});

test("the cause of a failure is shown only through the hook, and scrubbed", () => {
  expect(new Disclosure({}).cause("password")).toBeUndefined();
  const disclosure = new Disclosure({
    cause: (cause) => (cause.startsWith("timeout") ? cause : undefined),
    scrub: { literals: ["hunter2"] },
  });
  expect(disclosure.cause("password")).toBeUndefined();
  expect(disclosure.cause("timeout at hunter2")).toBe("timeout at [redacted]");
});

const LITERALS = ["abc", "abcd", "bca", "aab", "a-b", "."];

test("however text is split, the scrubbed text is the same and contains no literal", () => {
  const create = createScrubberFactory({ literals: LITERALS, replacement: "_" });
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom(..."abcd-.") })), (pieces) => {
      const scrubber = create();
      const whole = scrubText(pieces.join(""), create);
      const joined = pieces.map((piece) => scrubber.push(piece)).join("") + scrubber.end();
      expect(joined).toBe(whole);
      for (const literal of LITERALS) expect(whole).not.toContain(literal);
    }),
    { numRuns: 500 },
  );
});

test("a pattern is removed however text is split, up to its longest match", () => {
  const create = createScrubberFactory({
    literals: ["zz"],
    patterns: [/a{1,3}b/],
    maxMatchLength: 4,
    replacement: "_",
  });
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom(..."abz") })), (pieces) => {
      const scrubber = create();
      const joined = pieces.map((piece) => scrubber.push(piece)).join("") + scrubber.end();
      expect(joined).toBe(scrubText(pieces.join(""), create));
      expect(joined).not.toMatch(/ab|zz/);
    }),
    { numRuns: 500 },
  );
});

test("only a possible start of a match is held back", () => {
  const scrubber = createScrubberFactory({ literals: ["secret"] })();
  expect(scrubber.push("my se")).toBe("my ");
  expect(scrubber.push("at")).toBe("seat");
  expect(scrubber.push("secre")).toBe("");
  expect(scrubber.end()).toBe("secre");
});

test("scrubbing a long text takes linear time, with many matches and many rules", () => {
  const create = createScrubberFactory({
    literals: ["ab", "never".repeat(500), "nothing"],
    patterns: [/neither/, /nor/],
    replacement: "",
  });
  expect(scrubText("ab".repeat(500_000), create)).toBe("");
  const drip = createScrubberFactory({ literals: ["never".repeat(500)] })();
  const shown = Array.from({ length: 20_000 }, () => drip.push("word ")).join("") + drip.end();
  expect(shown).toBe("word ".repeat(20_000));
});
