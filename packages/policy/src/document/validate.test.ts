import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "@countersign/core";
import { POLICY_SCHEMA } from "../schema/policy-schema.js";
import { sampleText } from "../testing/sample-text.js";
import { loadPolicy } from "./load.js";
import { validateAgainstSchema } from "./validate.js";

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
const accepts = ajv.compile(POLICY_SCHEMA as object);
const positions = { file: "p", values: new Map(), keys: new Map() };
const walk = (value: JsonValue): number =>
  validateAgainstSchema(POLICY_SCHEMA, value, positions, 10).length;

test("the schema is a schema, and the file editors use is this schema", () => {
  expect(ajv.validateSchema(POLICY_SCHEMA as object)).toBe(true);
  const file = new URL("../../policies/policy.schema.json", import.meta.url);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(POLICY_SCHEMA);
});

const base = loadPolicy(sampleText("starter.yaml")).document as JsonObject;

/** Changes one value of a document to something a person or an attacker might write. */
function mutate(value: JsonValue, path: readonly number[], replacement: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined || value === null || typeof value !== "object") return replacement;
  const copy: JsonValue = Array.isArray(value) ? [...value] : { ...value };
  const keys = Object.keys(copy);
  const key = keys[step % (keys.length + 1)];
  const table = copy as JsonObject;
  if (key === undefined) table["unknown_key"] = replacement;
  else if (rest.length === 0 && replacement === null) delete table[key];
  else table[key] = mutate(table[key] ?? null, rest, replacement);
  return copy;
}

test("our walker and ajv accept the same documents", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(12), { maxLength: 6 }),
      fc.oneof(
        fc.constantFrom<JsonValue>(null, true, 0, 1, -1, 1.5, "", "submit", "a:b", "/a/*", [], {}),
        fc.string(),
        fc.integer(),
      ),
      (path, replacement) => {
        const value = mutate(base, path, replacement);
        // ajv sees holes left by delete as undefined items of a list; JSON has none.
        const plain = JSON.parse(JSON.stringify(value)) as JsonValue;
        expect(walk(plain) === 0).toBe(accepts(plain));
      },
    ),
    { numRuns: 1000 },
  );
});
