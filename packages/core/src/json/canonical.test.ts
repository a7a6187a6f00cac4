import canonicalize from "canonicalize";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical.js";
import { parseJson } from "./parse.js";
import type { JsonValue } from "./value.js";

// RFC 8785 appendix B: IEEE-754 bits and the JSON form they must have.
const NUMBERS = [
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
] as const;

function fromBits(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

test.each(NUMBERS)("the double %s is written %s", (bits, text) => {
  expect(canonicalJson(fromBits(bits))).toBe(text);
});

test.each(["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])(
  "the double %s has no canonical form",
  (bits) => {
    expect(() => canonicalJson(fromBits(bits))).toThrow(
      expect.objectContaining({ code: "ERR_JSON_NOT_CANONICAL", facts: { reason: "number" } }),
    );
  },
);

// RFC 8785 §3.2.2 and §3.2.3.
test("the sample of RFC 8785 becomes the published text", () => {
  const sample = parseJson(
    '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],' +
      '"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}',
  );
  expect(canonicalJson(sample)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test("keys are sorted by UTF-16 code units, as in RFC 8785 §3.2.3", () => {
  const text =
    '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh",' +
    '"1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}';
  expect(
    Object.values(JSON.parse(canonicalJson(parseJson(text))) as object).toSorted(),
  ).toHaveLength(7);
  expect(canonicalJson(parseJson(text))).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
      '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  );
});

const json = fc.jsonValue({ maxDepth: 5, stringUnit: "binary" }) as fc.Arbitrary<JsonValue>;

test("every value has the text of the independent canonicalize", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: 1000 },
  );
});

test("objects of any size are sorted, whatever the order of their keys", () => {
  const keys = fc.uniqueArray(fc.string({ unit: "binary", maxLength: 3 }), { maxLength: 40 });
  fc.assert(
    fc.property(keys, (names) => {
      const value = Object.fromEntries(names.map((name, index) => [name, index]));
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
  );
});

test("the canonical text of a parsed value is a fixed point", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      let value: JsonValue;
      try {
        value = parseJson(text);
      } catch {
        return;
      }
      const canonical = canonicalJson(value);
      expect(canonicalJson(parseJson(canonical))).toBe(canonical);
    }),
  );
});

test.each([
  ["lone-surrogate", "\ud800"],
  ["lone-surrogate", { "a\udc00": 1 }],
  ["type", undefined],
  ["type", { a: undefined }],
  ["type", [() => 1]],
  ["type", 1n],
  ["type", Symbol.iterator],
  // A hole reads as undefined; canonicalize would write null for it.
  ["type", Array.from({ length: 1 })],
  ["type", { toJSON: () => "other" }],
  ["prototype", new Date(0)],
  ["prototype", new Map()],
  ["prototype", Uint8Array.of(1)],
  ["prototype", Object.create({ inherited: 1 })],
])("%s: %o is refused", (reason, value) => {
  expect(() => canonicalJson(value as JsonValue)).toThrow(
    expect.objectContaining({ code: "ERR_JSON_NOT_CANONICAL", facts: { reason } }),
  );
});

test("a null prototype and an own __proto__ key are plain data", () => {
  const bare = Object.assign(Object.create(null) as Record<string, JsonValue>, { b: 1, a: 2 });
  expect(canonicalJson(bare)).toBe('{"a":2,"b":1}');
  expect(canonicalJson(parseJson('{"z":1,"__proto__":{"a":1}}'))).toBe(
    '{"__proto__":{"a":1},"z":1}',
  );
});

test("128 levels are written, one more or a cycle is refused", () => {
  const nested = (depth: number): JsonValue => {
    let value: JsonValue = 0;
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };
  const tooDeep = expect.objectContaining({ code: "ERR_JSON_TOO_DEEP", facts: { allowed: 128 } });
  expect(canonicalJson(nested(128))).toContain("0");
  expect(() => canonicalJson(nested(129))).toThrow(tooDeep);
  const cycle: JsonValue[] = [];
  cycle.push(cycle);
  expect(() => canonicalJson(cycle)).toThrow(tooDeep);
});
