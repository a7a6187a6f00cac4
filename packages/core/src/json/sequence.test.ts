import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isCountersignError } from "../errors/error.js";
import type { JsonLimits } from "./parse.js";
import { parseJson } from "./parse.js";
import { createJsonSequence } from "./sequence.js";

const numRuns = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 3000);

/** The value with its keys in order, or the code and offset of the error. */
function outcome(parse: () => unknown): string {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return `${error.code} ${JSON.stringify(error.facts)}`;
  }
}

/** The result of each text in a sequence, and alone. */
function bothWays(texts: readonly string[], limits?: Partial<JsonLimits>): [string[], string[]] {
  const sequence = createJsonSequence(limits);
  return [
    texts.map((text) => outcome(() => sequence.parse(text))),
    texts.map((text) => outcome(() => parseJson(text, limits))),
  ];
}

const value = fc.oneof(
  fc.constantFrom("a", "b", "", " word", "é", "🙂", "x".repeat(40), "5"),
  fc.constantFrom('"', "\\", "\\n", "\\ud800", "\u0000", "\n", "\ud800", '","x":"', '"}', '"},'),
);
const key = fc.constantFrom("type", "delta", "7", "", "__proto__", "a\\u0062", 'x\\"delta', "é");
const member = fc.oneof(
  value.map((text) => `"${text}"`),
  fc.constantFrom("1", "null", "[]", "{}", '{"a":"b"}', "true"),
);
/** Texts that resemble each other in all relevant ways: keys, order, spaces, ends, escapes. */
const text = fc
  .tuple(
    fc.array(fc.tuple(key, member), { maxLength: 2 }),
    key,
    member,
    fc.constantFrom(":", ": "),
    fc.constantFrom("}", "}", "}", " }", "]", "}}", ""),
  )
  .map(([first, last, said, colon, end]) => {
    const members = first.map(([name, written]) => `"${name}":${written}`);
    members.push(`"${last}"${colon}${said}`);
    return `{${members.join()}${end}`;
  });

test("a sequence of similar texts gives the values and errors of parsing each alone", () => {
  const same = fc.property(
    fc.array(text, { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat({ max: 2 }), { maxLength: 8 }),
    fc.array(value, { maxLength: 8 }),
    (texts, picks, values) => {
      // Each text again with another last value, after any predecessor.
      const like = picks.map((pick, index) => {
        const chosen = texts[pick % texts.length] ?? "";
        return chosen.replace(/"[^"]*"\}$/u, `"${values[index] ?? "z"}"}`);
      });
      const [sequence, alone] = bothWays([...texts, ...like].flatMap((each) => [each, each]));
      expect(sequence).toEqual(alone);
    },
  );
  expect(() => fc.assert(same, { numRuns })).not.toThrow();
});

test.each([
  ["a key like a number stands last in the text only", '{"7":"a","x":"b"}', '{"x":"b","7":"a"}'],
  ["the same value twice", '{"x":"a","7":"a"}', '{"x":"a","7":"c"}'],
  ["a quote inside the last key", '{"x\\"delta":"a"}', '{"x\\"delta":"b"}'],
  ["a prototype name", '{"__proto__":"a"}', '{"__proto__":"b"}'],
  ["the key again", '{"a":"x"}', '{"a":"x","a":"y"}'],
  ["a nested object that ends alike", '{"o":{"a":"x"}}', '{"o":{"a":"y"}}'],
])("no text is taken for another: %s", (_name, first, second) => {
  const [sequence, alone] = bothWays([first, first, second, first, first, second, second, second]);
  expect(sequence).toEqual(alone);
});

test("changing a returned object does not affect the next", () => {
  const sequence = createJsonSequence();
  sequence.parse('{"a":1,"delta":"w"}');
  const first = sequence.parse('{"a":1,"delta":"x"}') as Record<string, unknown>;
  first["a"] = 2;
  first["b"] = 3;
  const second = sequence.parse('{"a":1,"delta":"y"}') as Record<string, unknown>;
  expect(second).toEqual({ a: 1, delta: "y" });
  second["a"] = 4;
  expect(sequence.parse('{"a":1,"delta":"z"}')).toEqual({ a: 1, delta: "z" });
});

test("the byte limit also holds on the fast path: at the limit, and one over", () => {
  const at = (length: number): string => `{"delta":"${"é".repeat(length)}"}`;
  const [sequence, alone] = bothWays([at(1), at(1), at(9), at(10), at(11)], { maxBytes: 32 });
  expect(sequence).toEqual(alone);
  expect(alone.map((text) => text.startsWith("ERR_JSON_TOO_LARGE"))).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
  expect(() => createJsonSequence({ maxBytes: 0 })).toThrow(TypeError);
});
