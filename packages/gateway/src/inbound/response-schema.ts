import type { JsonObject, JsonValue } from "@countersign/core";
import { compileResponseSchema } from "@countersign/policy";
import type { ArgumentCheck } from "@countersign/policy";

/** The limit on the total characters of the schemas of one request; a form with a hundred fields has half of it. */
export const MAX_SCHEMA_CHARACTERS = 16_384;
/** The number of compiled schemas in the cache: a client that repeats an answer costs no further compilation. */
const MAX_COMPILED = 32;

/** Compiled schemas by their text, the last used at the end; `undefined` for a schema that does not compile. */
const compiled = new Map<string, ArgumentCheck | undefined>();

/**
 * Creates the check of one request's answers against the schemas that the agent sent.
 *
 * Compiling takes about 20 ms for each thousand characters, and both sides can cause it: an agent with a long schema, a client with many
 * requests. An answer that the gateway cannot check is refused.
 */
export function createAnswerCheck(): (schema: JsonObject, payload: JsonValue) => boolean {
  let characters = 0;
  return (schema, payload) => {
    const text = JSON.stringify(schema);
    characters += text.length;
    if (characters > MAX_SCHEMA_CHARACTERS) return false;
    return checkOf(text, schema)?.(payload) === true;
  };
}

function checkOf(text: string, schema: JsonObject): ArgumentCheck | undefined {
  const check = compiled.has(text) ? compiled.get(text) : compile(schema);
  compiled.delete(text);
  compiled.set(text, check);
  const [oldest] = compiled.keys();
  if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
  return check;
}

function compile(schema: JsonObject): ArgumentCheck | undefined {
  try {
    return compileResponseSchema(schema);
  } catch {
    return undefined;
  }
}
