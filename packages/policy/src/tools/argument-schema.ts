import type { JsonObject, JsonValue } from "@countersign/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Options } from "ajv/dist/2020.js";
import { compilePattern } from "../patterns/regular-expression.js";
import { assertBoundedSchema } from "./schema-bounds.js";
import { addMeter } from "./schema-meter.js";

/** Whether arguments are valid; a check that does not finish rejects. */
export type ArgumentCheck = (value: JsonValue) => boolean;

// ajv would call RegExp, which backtracks; patterns of schemas use RE2 like all others. ajv caches
// compiled patterns by their toString(): without a distinct one every pattern would be the first.
const linearRegExp = Object.assign(
  (pattern: string, flags: string) => ({
    ...compilePattern(pattern),
    toString: () => `/${pattern}/${flags}`,
  }),
  { code: "countersign.linearRegExp" },
);

// Validates schemas. Shared, because compiling the meta-schema takes 20 ms: five hundred tools
// would keep a gateway busy for ten seconds at every reload.
const grammar = new Ajv2020({ strict: true, logger: false, code: { regExp: linearRegExp } });

/**
 * Compiles a JSON Schema (2020-12) for the arguments of one tool.
 *
 * @throws Error with a message for the author, when the schema is invalid, remote or unbounded
 */
export function compileArgumentSchema(schema: JsonObject): ArgumentCheck {
  assertBoundedSchema(schema);
  // `true` makes it throw.
  void grammar.validateSchema(schema, true);
  return compileCheck(schema, {
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
  });
}

/**
 * Compiles a JSON Schema that an agent sent with an interrupt, for the answer.
 *
 * Agents generate such schemas: unknown annotations and formats must not reject every answer, so
 * they are not checked. Bounds and patterns are the same as for a policy's own schemas.
 *
 * @throws Error when the schema is invalid, remote or unbounded
 */
export function compileResponseSchema(schema: JsonObject): ArgumentCheck {
  assertBoundedSchema(schema);
  return compileCheck(schema, { strict: false, validateFormats: false });
}

function compileCheck(schema: JsonObject, strictness: Options): ArgumentCheck {
  const ajv = new Ajv2020({
    // Its own instance, so that nothing of one policy remains when the next one is loaded.
    meta: false,
    validateSchema: false,
    allErrors: false,
    logger: false,
    ownProperties: true,
    // Inlining a definition of 5 KB into every reference took 70 s to compile.
    inlineRefs: false,
    code: { regExp: linearRegExp },
    ...strictness,
  });
  const { metered, reset } = addMeter(ajv, schema);
  const validate = ajv.compile(metered);
  return (value) => {
    reset();
    try {
      return validate(value) === true;
    } catch {
      // A schema that runs out of stack, or of steps, on a deep value has not accepted it.
      return false;
    }
  };
}
