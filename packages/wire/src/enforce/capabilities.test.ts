import { AgentCapabilitiesSchema } from "@ag-ui/core/schemas";
import { isCountersignError } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AGENT_CAPABILITIES } from "../model/capabilities.js";
import type { Field, Shape, ValueSpec } from "../model/field.js";
import { mutateJson } from "../testing/mutate.js";
import { enforceCapabilities } from "./capabilities.js";

function arbitraryValue(spec: ValueSpec): fc.Arbitrary<unknown> {
  switch (spec.kind) {
    case "shape":
      return arbitraryShape(spec);
    case "list":
      return fc.array(arbitraryValue(spec.element), { maxLength: 2 });
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.nat();
    case "object":
      return fc.constantFrom({}, { a: null });
    case "json":
      return fc.constantFrom(1, { type: "object" });
    default:
      return fc.string({ maxLength: 5 });
  }
}

function arbitraryShape({ fields, required }: Shape): fc.Arbitrary<unknown> {
  const entries = Object.entries(fields).map(
    ([name, { spec }]: [string, Field]) => [name, arbitraryValue(spec)] as const,
  );
  const members = fc.record(Object.fromEntries(entries), { requiredKeys: [...required] });
  const unknown = fc.dictionary(fc.constantFrom("x-new", "subAgents"), fc.constant(1));
  return fc.tuple(members, unknown).map(([known, more]) => ({ ...known, ...more }));
}

function isValid(value: JsonValue): boolean {
  try {
    // Nothing is removed: what a newer agent says is data.
    expect(enforceCapabilities(value)).toBe(value);
    return true;
  } catch (error) {
    if (isCountersignError(error, "ERR_ENFORCE_MALFORMED_VALUE")) return false;
    throw error;
  }
}

test("capabilities are valid where the official schema says so", () => {
  const seen = { valid: 0, malformed: 0 };
  const whole = arbitraryShape(AGENT_CAPABILITIES) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(fc.oneof(whole, whole.chain(mutateJson)), (value) => {
      const expected = AgentCapabilitiesSchema.safeParse(structuredClone(value)).success;
      seen[expected ? "valid" : "malformed"] += 1;
      expect(isValid(value)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(seen.valid, seen.malformed)).toBeGreaterThan(100);
});

test("the known groups and fields are those of the official schema", () => {
  const names = (schema: { shape?: object; unwrap?: () => unknown }): object | undefined =>
    schema.shape ?? (schema.unwrap?.() as { shape?: object } | undefined)?.shape;
  const official = names(AgentCapabilitiesSchema) as Record<string, never>;
  expect(Object.keys(AGENT_CAPABILITIES.fields).toSorted()).toEqual(
    Object.keys(official).toSorted(),
  );
  for (const [name, { spec }] of Object.entries(AGENT_CAPABILITIES.fields)) {
    if (spec.kind !== "shape") continue;
    const group = Object.keys(names(official[name] as never) ?? {});
    expect([name, Object.keys(spec.fields).toSorted()]).toEqual([name, group.toSorted()]);
  }
});
