import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "./value.js";
import { writeJson } from "./write.js";

const numRuns = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 5000);

test("every value is written as JSON.stringify writes it", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom(
      '"',
      "\\",
      "\n",
      "\u0000",
      "\u007f",
      "\u2028",
      "\ud800",
      "🙂",
      "__proto__",
      "7",
    ),
  );
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      unit,
      fc.double(),
      fc.constantFrom(null, true, 0, -0, 1e21),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(unit, tie("value"), { maxKeys: 4, noNullPrototype: false }),
    ),
  }));
  const same = fc.property(value, (given) => {
    expect(writeJson(given)).toBe(JSON.stringify(given));
  });
  expect(() => fc.assert(same, { numRuns })).not.toThrow();
});

test("absent members are omitted, and more keys than the cache holds are written too", () => {
  expect(writeJson({ a: undefined, b: 1 } as unknown as JsonValue)).toBe('{"b":1}');
  const wide = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`key-${at}`, at]));
  expect(writeJson(wide)).toBe(JSON.stringify(wide));
  expect(writeJson({ ["k".repeat(100)]: "v" })).toBe(JSON.stringify({ ["k".repeat(100)]: "v" }));
});
