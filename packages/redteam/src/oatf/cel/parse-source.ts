import { parse } from "@bufbuild/cel";
import { createBoundedCache } from "../json/bounded-cache.js";
import type { ExpressionFacts } from "./expression-tree.js";
import { prepareTree } from "./expression-tree.js";
import { bracketDepth } from "./bracket-depth.js";

/** The longest expression a document may carry; the parser takes 0.1 ms for each operand of a chain. */
export const MAX_CEL_LENGTH = 4096;
/** The parser tries alternatives again at every bracket. */
export const MAX_CEL_BRACKETS = 32;

/** An expression ready to be planned, or the sentence that says why the text is none. */
export type ParsedCel =
  | {
      readonly tree: ReturnType<typeof parse>;
      readonly facts: ExpressionFacts;
      readonly problem?: never;
    }
  | { readonly problem: string; readonly tree?: never; readonly facts?: never };

const cache = createBoundedCache<ParsedCel>(256);

/** Parses an expression within bounds; once for `validate` and the evaluator together. */
export function parseCel(source: string): ParsedCel {
  if (source.length > MAX_CEL_LENGTH) {
    return { problem: `the expression is longer than ${MAX_CEL_LENGTH} characters` };
  }
  return cache.getOrCreate(source, parseWithin);
}

function parseWithin(source: string): ParsedCel {
  if (bracketDepth(source) > MAX_CEL_BRACKETS) {
    return { problem: `brackets are nested deeper than ${MAX_CEL_BRACKETS}` };
  }
  try {
    const tree = parse(source);
    return { tree, facts: prepareTree(tree.expr) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "cannot be parsed";
    return { problem: detail.slice(0, 200) };
  }
}
