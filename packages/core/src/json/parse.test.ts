import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isCountersignError } from "../errors/error.js";
import type { ErrorCode } from "../errors/error.js";
import { parseJson } from "./parse.js";
import { isProvablyStrict } from "./strict-proof.js";
import { parseReporting } from "./reporting-parser.js";
import { isWellFormed } from "./well-formed.js";

const utf8 = new TextEncoder();

function refusal(run: () => unknown): { code: ErrorCode; offset: number | undefined } | undefined {
  try {
    run();
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return { code: error.code, offset: (error.facts as { offset?: number }).offset };
  }
  return undefined;
}

test.each([
  ["", "ERR_JSON_SYNTAX", 0],
  ["{", "ERR_JSON_SYNTAX", 1],
  ["[1,]", "ERR_JSON_SYNTAX", 3],
  ['{"a":1,}', "ERR_JSON_SYNTAX", 7],
  ["01", "ERR_JSON_SYNTAX", 1],
  ["1 2", "ERR_JSON_SYNTAX", 2],
  ["nul", "ERR_JSON_SYNTAX", 0],
  ["NaN", "ERR_JSON_SYNTAX", 0],
  ["]", "ERR_JSON_SYNTAX", 0],
  ['"é\n"', "ERR_JSON_SYNTAX", 3],
  ['"\\x"', "ERR_JSON_SYNTAX", 1],
  ['"\\u12g4"', "ERR_JSON_SYNTAX", 1],
  ['"abc', "ERR_JSON_SYNTAX", 4],
  ['{"é":1 "b":2}', "ERR_JSON_SYNTAX", 8],
  ["\ufeff{}", "ERR_JSON_BOM", 0],
  ['{"a":1,"a":2}', "ERR_JSON_DUPLICATE_KEY", 7],
  ['{"a":1,"\\u0061":2}', "ERR_JSON_DUPLICATE_KEY", 7],
  ['{"é":[{"b":0}],"c":{"x":1,"y":2,"x":3}}', "ERR_JSON_DUPLICATE_KEY", 33],
  ['{"__proto__":1,"__proto__":2}', "ERR_JSON_DUPLICATE_KEY", 15],
  ['["😀","\\ud800"]', "ERR_JSON_LONE_SURROGATE", 9],
  ['"\\udc00\\ud800"', "ERR_JSON_LONE_SURROGATE", 1],
  ['"\\uD83Dx"', "ERR_JSON_LONE_SURROGATE", 1],
  ['"\\ud83d\\ud83d\\ude00"', "ERR_JSON_LONE_SURROGATE", 1],
  ['"a\ud800b"', "ERR_JSON_LONE_SURROGATE", 2],
  ['"\\ud83d\ude00"', "ERR_JSON_LONE_SURROGATE", 1],
  ['{"\\ud800":1}', "ERR_JSON_LONE_SURROGATE", 2],
  ["[9007199254740992]", "ERR_JSON_UNSAFE_NUMBER", 1],
  ["-9007199254740993", "ERR_JSON_UNSAFE_NUMBER", 0],
  ["1e400", "ERR_JSON_UNSAFE_NUMBER", 0],
  ["-1E999", "ERR_JSON_UNSAFE_NUMBER", 0],
  ["9007199254740993.0", "ERR_JSON_UNSAFE_NUMBER", 0],
  ["1e17", "ERR_JSON_UNSAFE_NUMBER", 0],
  ["1000000000000000000000000", "ERR_JSON_UNSAFE_NUMBER", 0],
] as const)("%j is refused as %s at byte %i", (text, code, offset) => {
  expect(refusal(() => parseJson(text))).toEqual({ code, offset });
  // As bytes a raw lone surrogate cannot exist: the encoder writes U+FFFD instead.
  const asBytes = refusal(() => parseJson(utf8.encode(text)));
  expect(asBytes).toEqual(isWellFormed(text) ? { code, offset } : asBytes);
});

test.each([
  ["9007199254740991", 9007199254740991],
  ["-9007199254740991", -9007199254740991],
  ["6.02e23", 6.02e23],
  ["1e21", 1e21],
  ["0.1", 0.1],
  ["-0", -0],
  ["1E5", 100000],
  ['"\\ud83d\\ude00\\uD83D\\uDE00"', "😀😀"],
  ['"\\u00e9\\udc7f"'.replace("\\udc7f", "\\ud7ff"), "é\ud7ff"],
  ['"a\\"b\\\\"', 'a"b\\'],
  ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', { a: { a: 1 }, b: [{ a: 1 }, { a: 2 }] }],
  [' \t\r\n[ 1 , "x" ] ', [1, "x"]],
  ['{"\\u0061":1,"b":2}', { a: 1, b: 2 }],
] as const)("%j is read", (text, value) => {
  expect(parseJson(text)).toEqual(value);
  expect(parseJson(utf8.encode(text))).toEqual(value);
});

test.each([
  [[0x22, 0xff, 0x22], 1],
  [[0x22, 0xc3], 1],
  [[0x22, 0xc0, 0x80, 0x22], 1],
  [[0x22, 0x61, 0xed, 0xa0, 0x80, 0x22], 2],
  [[0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
  [[0x22, 0xf0, 0x9f, 0x98, 0x80, 0xe2, 0x82], 5],
] as const)("bytes %j are not UTF-8 at byte %i", (bytes, offset) => {
  expect(refusal(() => parseJson(Uint8Array.from(bytes)))).toEqual({
    code: "ERR_JSON_UTF8",
    offset,
  });
});

test("a key named __proto__ becomes an own property on both paths", () => {
  for (const text of ['{"__proto__":{"admin":true}}', '{"__proto__":{"admin":true},"\\u0061":1}']) {
    const value = parseJson(text) as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value, "__proto__")).toBe(true);
    expect(value["admin"]).toBeUndefined();
  }
});

test("nesting at the limit is read, one more is refused where it opens", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect(() => parseJson(nested(64))).not.toThrow();
  expect(refusal(() => parseJson(nested(65)))).toEqual({ code: "ERR_JSON_TOO_DEEP", offset: 64 });
  expect(() => parseJson('{"a":[{}]}', { maxDepth: 3 })).not.toThrow();
  expect(refusal(() => parseJson('{"a":[{}]}', { maxDepth: 2 }))).toEqual({
    code: "ERR_JSON_TOO_DEEP",
    offset: 6,
  });
  expect(refusal(() => parseJson("[".repeat(1_000_000)))?.code).toBe("ERR_JSON_TOO_DEEP");
});

test("bytes at the limit are read, one more is refused, counted as UTF-8", () => {
  for (const text of ['"aaaa"', '"éé"', '"😀"']) {
    expect(() => parseJson(text, { maxBytes: 6 })).not.toThrow();
    expect(() => parseJson(utf8.encode(text), { maxBytes: 6 })).not.toThrow();
    for (const input of [text, utf8.encode(text)]) {
      expect(refusal(() => parseJson(input, { maxBytes: 5 }))?.code).toBe("ERR_JSON_TOO_LARGE");
    }
  }
});

test("a limit that is not a positive integer is the caller's mistake", () => {
  expect(() => parseJson("1", { maxDepth: 0 })).toThrow(TypeError);
  expect(() => parseJson("1", { maxBytes: 1.5 })).toThrow(TypeError);
  expect(() => parseJson("1", { maxDepth: 1001 })).toThrow(TypeError);
});

test("a duplicate is found in objects of any size, at any position", () => {
  for (const size of [2, 23, 24, 25, 26, 100]) {
    const keys = Array.from({ length: size }, (_, index) => `key${index}`);
    const text = (names: string[]): string =>
      `{"nested":{"key0":{"key1":2}},${names.map((name) => `"${name}":{"key0":1}`).join()}}`;
    expect(() => parseJson(text(keys))).not.toThrow();
    for (const twin of [0, (size - 1) >> 1, size - 2]) {
      const names = [...keys.slice(0, -1), `key${twin}`];
      expect(refusal(() => parseJson(text(names)))?.code).toBe("ERR_JSON_DUPLICATE_KEY");
    }
  }
});

test("an input with one escape and many strings costs linear time", () => {
  const text = `["\\n",${'"abcdef",'.repeat(200_000)}"\\n"]`;
  expect((parseJson(text) as unknown[]).length).toBe(200_002);
});

const TOKENS = [
  ["{", "}", "[", "]", ",", ":", " ", '"', "\\", "\ud800", "true", "null", "1", "-0"],
  ['"a"', '"b"', '"\\u0061"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\uDE00"', '"\\\\"', '"\\""'],
  ["1e999", "9007199254740993", "12345678901234567.5", '"__proto__"'],
  ['{"a":1', ',"a":2', ',"b":[', '"a":{'],
].flat();

const hostileText = fc.oneof(
  fc.json({ maxDepth: 6 }),
  fc
    .tuple(
      fc.json({ maxDepth: 4 }),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\u0d8e1-. '))),
    )
    .map(([text, edits]) => {
      const units = text.split("");
      for (const [at, unit] of edits) units[at % (units.length + 1)] = unit;
      return units.join("");
    }),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 24 }).map((tokens) => tokens.join("")),
);

/** The result of a parser for a text: its value, or its error. */
function outcome(parse: (text: string) => unknown, text: string): unknown {
  let value: unknown;
  const refused = refusal(() => (value = parse(text)));
  return refused === undefined ? { value } : { refused };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("as many values as the limit pass, one more is refused at its start, in any form", () => {
  const limits = { maxValues: 5 };
  for (const text of ['{"a":[1,2],"b":{}}', '{"\\u0061":[1,2],"b":{}}', "[1,[],{},2]"]) {
    expect(parseJson(text, limits)).toEqual(JSON.parse(text));
  }
  expect(refusal(() => parseJson('{"a":[1,2],"b":[0]}', limits))).toEqual({
    code: "ERR_JSON_TOO_MANY",
    offset: 16,
  });
  expect(refusal(() => parseJson("[" + "0,".repeat(1e6) + "0]", limits))?.code).toBe(
    "ERR_JSON_TOO_MANY",
  );
});

test("the fast path accepts nothing that the reporting parser refuses, and reads the same value", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const authority = outcome((json) => parseReporting(json, 5, 9), text);
      expect(outcome((json) => parseJson(json, { maxDepth: 5, maxValues: 9 }), text)).toStrictEqual(
        authority,
      );
      const proven = isWellFormed(text) && isProvablyStrict(text, 5, 9) && isJson(text);
      expect(proven ? { value: JSON.parse(text) as unknown } : authority).toStrictEqual(authority);
    }),
    { numRuns: 4000 },
  );
});

test("the reporting parser agrees with the engine on everything it accepts or rejects as not JSON", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const refused = refusal(() => parseReporting(text, 1000, 1e6));
      expect(isJson(text)).toBe(isJson(text) && refused?.code !== "ERR_JSON_SYNTAX");
      const accepted = refused === undefined ? parseReporting(text, 1000, 1e6) : undefined;
      expect(accepted).toStrictEqual(refused === undefined ? JSON.parse(text) : undefined);
    }),
    { numRuns: 4000 },
  );
});

test("a parsed value can be written and parsed again", () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String),
    fc
      .tuple(fc.integer(), fc.integer({ min: 10, max: 25 }))
      .map(([head, power]) => `${head}e${power}`),
  );
  fc.assert(
    fc.property(number, (literal) => {
      const first = outcome(parseJson, literal) as { value?: number };
      const written = JSON.stringify(first.value ?? 0);
      expect(outcome(parseJson, written)).toEqual({ value: (first.value ?? 0) + 0 });
    }),
    { numRuns: 1000 },
  );
});
