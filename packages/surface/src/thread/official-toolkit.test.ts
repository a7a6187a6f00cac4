import { validateA2UIComponents } from "@ag-ui/a2ui-toolkit";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "@countersign/core";
import { createSurfaceModel } from "../index.js";
import { component, OPEN } from "../testing/surfaces.js";

const OURS: Readonly<Record<string, string>> = {
  missing_id: "surface/malformed-operation",
  missing_component_type: "surface/missing-type",
  duplicate_id: "surface/duplicate-component",
};

const damaged = fc
  .tuple(component, fc.constantFrom("whole", "id", "component"))
  .map(([one, missing]) =>
    Object.fromEntries(Object.entries(one as JsonObject).filter(([key]) => key !== missing)),
  );
const lists = fc.array(fc.oneof({ weight: 6, arbitrary: component }, damaged), {
  minLength: 1,
  maxLength: 8,
});

test("what the toolkit of AG-UI refuses is a problem, and what it accepts is decided", () => {
  const property = fc.property(lists, (components) => {
    const verdict = validateA2UIComponents({
      components: structuredClone(components) as never,
      validateBindings: false,
    });
    const operations: JsonValue[] = [
      OPEN,
      { updateComponents: { surfaceId: "s", components: components as JsonValue[] } },
    ];
    const { problems } = createSurfaceModel().apply({
      kind: "result",
      toolCallId: "c",
      content: { a2ui_operations: operations },
    });
    const codes = new Set(verdict.errors.map(({ code }) => code));
    // Without a type it is an update of the component before it, as in the official renderer.
    if (codes.has("duplicate_id")) codes.delete("missing_component_type");
    const expected = [...codes].flatMap((code) => OURS[code] ?? []);
    expect(problems.map(({ code }) => code)).toEqual(expect.arrayContaining(expected));
    // The toolkit does not look for cycles through a modal.
    const isDecided = problems.every((one) => !one.isUndecided || one.code === "surface/cycle");
    expect(isDecided || !verdict.valid).toBe(true);
  });
  fc.assert(property, { numRuns: 500 });
});
