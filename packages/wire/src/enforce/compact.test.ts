import type { JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryEvent, arbitraryInput, mutateJson } from "../testing/arbitraries.js";
import { enforceEventCompactly, enforceInputCompactly } from "./compact.js";
import { enforceEvent, enforceInput } from "./enforce.js";

function outcome(enforce: (value: JsonValue) => unknown, value: JsonValue): unknown {
  try {
    return enforce(structuredClone(value));
  } catch (error) {
    return error;
  }
}

test("the compact form finds what the fast form finds, on valid and on mutated events", () => {
  const value = arbitraryEvent().chain((event) => mutateJson(event as unknown as JsonValue));
  fc.assert(
    fc.property(
      fc.oneof(arbitraryEvent() as unknown as fc.Arbitrary<JsonValue>, value),
      (event) => {
        expect(outcome(enforceEventCompactly, event)).toEqual(outcome(enforceEvent, event));
      },
    ),
    { numRuns: 500 },
  );
});

test("the compact form finds what the fast form finds, on valid and on mutated inputs", () => {
  const value = arbitraryInput().chain((input) => mutateJson(input as unknown as JsonValue));
  fc.assert(
    fc.property(
      fc.oneof(arbitraryInput() as unknown as fc.Arbitrary<JsonValue>, value),
      (input) => {
        expect(outcome(enforceInputCompactly, input)).toEqual(outcome(enforceInput, input));
      },
    ),
    { numRuns: 200 },
  );
});
