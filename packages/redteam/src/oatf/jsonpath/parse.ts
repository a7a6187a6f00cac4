import parseQuery from "jsonpath-rfc9535/parser";
import type { JsonPathQuery } from "jsonpath-rfc9535/parser";
import { createBoundedCache } from "../json/bounded-cache.js";
import { checkFunctions } from "./functions.js";

/** The longest selector a document may carry. */
export const MAX_SELECTOR_LENGTH = 1024;
/** Brackets inside brackets; the parser tries alternatives again at each level. */
export const MAX_SELECTOR_NESTING = 10;

/** A parsed query, or the sentence that says why the text is none. */
export type JsonPathCompilation =
  | { readonly query: JsonPathQuery; readonly problem?: never }
  | { readonly problem: string; readonly query?: never };

const cache = createBoundedCache<JsonPathCompilation>(256);

/** Parses an RFC 9535 query and checks the arguments of its functions. */
export function compileJsonPath(source: string): JsonPathCompilation {
  if (source.length > MAX_SELECTOR_LENGTH) {
    return { problem: `the selector is longer than ${MAX_SELECTOR_LENGTH} characters` };
  }
  return cache.getOrCreate(source, compile);
}

function compile(source: string): JsonPathCompilation {
  let depth = 0;
  for (const character of source) {
    if (character === "[" || character === "(") depth += 1;
    else if (character === "]" || character === ")") depth -= 1;
    if (depth > MAX_SELECTOR_NESTING) {
      return { problem: `brackets may be nested at most ${MAX_SELECTOR_NESTING} deep` };
    }
  }
  try {
    const query = parseQuery(source);
    checkFunctions(query);
    return { query };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "not a JSONPath query";
    return { problem: detail.slice(0, 200) };
  }
}
