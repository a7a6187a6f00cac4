import * as fc from "fast-check";
import { EventSchemas, RunAgentInputSchema } from "@ag-ui/core/schemas";
import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import { arbitraryEvent, arbitraryInput, mutateJson } from "./arbitraries.js";

test("every generated event is valid for the official schema", () => {
  fc.assert(
    fc.property(arbitraryEvent(), (event) => {
      expect(EventSchemas.safeParse(event).error).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});

test("every generated input is valid for the official schema", () => {
  fc.assert(
    fc.property(arbitraryInput(), (input) => {
      expect(RunAgentInputSchema.safeParse(input).error).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

test("a mutation leaves the original untouched and stays JSON", () => {
  fc.assert(
    fc.property(
      arbitraryEvent().chain((event) => {
        const before = JSON.stringify(event);
        return mutateJson(event as JsonValue).map((mutated) => ({ event, before, mutated }));
      }),
      ({ event, before, mutated }) => {
        expect(JSON.stringify(event)).toBe(before);
        expect(JSON.parse(JSON.stringify(mutated))).toEqual(mutated);
      },
    ),
    { numRuns: 300 },
  );
});
