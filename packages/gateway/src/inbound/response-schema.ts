import type { JsonObject, JsonValue } from "@countersign/core";
import { compileResponseSchema } from "@countersign/policy";
import type { ArgumentCheck } from "@countersign/policy";

/** Characters that the schemas of one request may have together; a form of a hundred fields has half of it. */
export const MAX_SCHEMA_CHARACTERS = 16_384;
/** Compiled schemas that are kept: who asks again with the same answer costs nothing more. */
const KEPT = 32;

/** By the schema's text, the one used last at the end; `undefined` for one that cannot be used. */
const compiled = new Map<string, ArgumentCheck | undefined>();

/**
 * Holds the answers of one request against the schemas that the agent sent with its questions.
 *
 * Compiling a schema takes some 20 ms for each thousand characters, and both sides could ask for it: an agent
 * with a long schema, a client with many requests. What cannot be checked was not accepted.
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
  if (compiled.size > KEPT && oldest !== undefined) compiled.delete(oldest);
  return check;
}

function compile(schema: JsonObject): ArgumentCheck | undefined {
  try {
    return compileResponseSchema(schema);
  } catch {
    return undefined;
  }
}
