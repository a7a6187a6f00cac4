import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import type { OatfDocument } from "../model/document.js";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "yes",
    "2026-02-15",
    "0.1",
    "~",
    "null",
    "- a",
    "a: b",
    "#",
    " x ",
    "a\nb\n",
    "\\{{x}}",
  ),
);
const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    text,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(text, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const content = fc.dictionary(text, json, { maxKeys: 3, noNullPrototype: true });
const optional = { requiredKeys: [] as [] };

const phase = fc.record(
  {
    name: text,
    description: text,
    state: content,
    trigger: fc.record(
      { event: fc.constantFrom("custom", "raw"), after: fc.constant("5s") },
      optional,
    ),
    on_enter: fc.array(fc.record({ log: fc.record({ message: text }) }), {
      minLength: 1,
      maxLength: 2,
    }),
    "x-phase": json,
  },
  optional,
);
const phases = fc.array(phase, { minLength: 1, maxLength: 3 });
const mode = fc.constantFrom("ag_ui_client", "mcp_server");
const execution = fc.oneof(
  fc.record({ mode, state: content, "x-execution": json }),
  fc.record({ mode, phases }),
  fc.record({
    actors: fc.array(fc.record({ name: fc.constantFrom("a", "b"), mode, phases }), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
);
const detection = fc.oneof(
  fc.record({ pattern: fc.record({ contains: text }) }),
  fc.record({
    pattern: fc.record({ condition: json.filter((value) => typeof value !== "object") }),
  }),
  fc.record({ expression: fc.record({ cel: text }) }),
  fc.record({ semantic: fc.record({ intent: text }) }),
);
const indicator = fc
  .tuple(
    fc.record(
      { id: text, target: text, protocol: fc.constant("mcp"), "x-indicator": json },
      {
        requiredKeys: ["target"],
      },
    ),
    detection,
  )
  .map(([head, body]) => ({ ...head, ...body }));

/** Documents that parse; most break one rule or another, which normalising does not mind. */
export const arbitraryDocument: fc.Arbitrary<OatfDocument> = fc
  .record(
    {
      id: fc.constantFrom("ACME-001", "ACME-002"),
      name: text,
      severity: fc.constantFrom("low", { level: "high" }, { level: "low", confidence: 3 }),
      classification: fc.record({ tags: fc.array(text, { maxLength: 2 }) }),
      execution,
      indicators: fc.array(indicator, { minLength: 1, maxLength: 3 }),
      "x-attack": json,
    },
    { requiredKeys: ["execution"] },
  )
  .map((attack) => ({ oatf: "0.1", attack: attack as unknown as JsonObject }));
