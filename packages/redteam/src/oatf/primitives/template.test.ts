import { isCountersignError } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_INTERPOLATED_LENGTH } from "../limits.js";
import { interpolateTemplate, interpolateValue } from "./template.js";

const context = {
  extractors: new Map([
    ["token", "abc"],
    ["other.token", "xyz"],
    ["empty", ""],
    ["trap", "{{token}}"],
    ["request.a", "own"],
  ]),
  request: { a: 1, b: { c: "deep", d: [1, { z: 1, y: 2 }] } },
  response: { n: null },
};

test.each([
  ["plain", "plain", 0],
  ["{{token}}-{{other.token}}", "abc-xyz", 0],
  ["{{ token }}", "abc", 0],
  ["[{{empty}}]", "[]", 0],
  ["{{request.b.c}}", "deep", 0],
  ["{{request.b.d}}", '[1,{"z":1,"y":2}]', 0],
  ["{{response.n}}", "null", 0],
  ["{{request.a}}", "own", 0],
  ["{{request.missing}}", "", 1],
  ["{{response.a.b}}", "", 1],
  ["{{nobody}} {{nothing}}", " ", 2],
  ["{{trap}}", "{{token}}", 0],
  ["\\{{token}}", "{{token}}", 0],
  ["\\{{{{token}}", "{{abc", 0],
  ["{{token", "{{token", 0],
  ["{{}}", "", 1],
  ["{{constructor}}", "", 1],
])("%j becomes %j with %d warnings", (template, expected, warnings) => {
  const result = interpolateTemplate(template, context);
  expect(result.text).toBe(expected);
  expect(result.warnings.map(({ code }) => code)).toEqual(Array(warnings).fill("W-004"));
});

test("what a template puts in is never expanded again", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const extractors = new Map([["v", value]]);
      expect(interpolateTemplate("<{{v}}>", { extractors }).text).toBe(`<${value}>`);
    }),
  );
});

test("a text without braces stays as it is", () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes("{{")),
      (text) => {
        expect(interpolateTemplate(text, context).text).toBe(text);
      },
    ),
  );
});

test("values are replaced inside lists and objects; keys and other scalars are not", () => {
  const value = JSON.parse('{"{{token}}":["{{token}}",1,null,{"__proto__":"{{token}}"}]}');
  const result = interpolateValue(value, context);
  expect(JSON.stringify(result.value)).toBe('{"{{token}}":["abc",1,null,{"__proto__":"abc"}]}');
  expect(value["{{token}}"][0]).toBe("{{token}}");
});

test("templates that multiply a long value end at the limit", () => {
  const extractors = new Map([["long", "x".repeat(MAX_INTERPOLATED_LENGTH / 4)]]);
  const repeat = (count: number): string => "{{long}}".repeat(count);
  expect(interpolateTemplate(repeat(4), { extractors }).text).toHaveLength(MAX_INTERPOLATED_LENGTH);
  for (const attempt of [
    () => interpolateTemplate(`${repeat(4)}.`, { extractors }),
    () => interpolateValue([repeat(3), repeat(2)], { extractors }),
  ]) {
    let thrown: unknown;
    try {
      attempt();
    } catch (error) {
      thrown = error;
    }
    expect(isCountersignError(thrown, "ERR_OATF_LIMIT")).toBe(true);
  }
});
