import type { JsonObject, JsonValue } from "@countersign/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { compilePattern } from "../patterns/regular-expression.js";
import { assertBoundedSchema } from "./schema-bounds.js";

/** Whether arguments fit; a check that fails to finish does not fit. */
export type ArgumentCheck = (value: JsonValue) => boolean;

// ajv would call RegExp, which backtracks; patterns of schemas go through RE2 like all others. ajv keeps
// compiled patterns by their toString(): without a distinct one every pattern would be the first.
const linearRegExp = Object.assign(
  (pattern: string, flags: string) => ({
    ...compilePattern(pattern),
    toString: () => `/${pattern}/${flags}`,
  }),
  { code: "countersign.linearRegExp" },
);

/**
 * Compiles a JSON Schema (2020-12) for the arguments of one tool.
 *
 * @throws Error with a sentence for the author, when the schema is invalid, remote or unbounded
 */
export function compileArgumentSchema(schema: JsonObject): ArgumentCheck {
  assertBoundedSchema(schema);
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allErrors: false,
    allowUnionTypes: true,
    logger: false,
    ownProperties: true,
    code: { regExp: linearRegExp },
  });
  const validate = ajv.compile(schema);
  return (value) => {
    try {
      return validate(value) === true;
    } catch {
      // A schema that runs out of stack on deep arguments has not accepted them.
      return false;
    }
  };
}
