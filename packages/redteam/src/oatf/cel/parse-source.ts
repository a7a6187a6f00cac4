import { createMeter, parseCel as parse, unknownNames } from "@countersign/core/cel";
import type { ParsedCel } from "@countersign/core/cel";
import { createBoundedCache } from "../json/bounded-cache.js";
import { createEnvironment } from "./environment.js";

/** The longest expression a document may carry; the parser takes 0.1 ms for each operand of a chain. */
export const MAX_CEL_LENGTH = 4096;

const cache = createBoundedCache<ParsedCel>(256);

/** Parses an expression within bounds; once for `validate` and the evaluator together. */
export function parseCel(source: string): ParsedCel {
  if (source.length > MAX_CEL_LENGTH) {
    return { problem: `the expression is longer than ${MAX_CEL_LENGTH} characters` };
  }
  return cache.getOrCreate(source, parse);
}

/** The static analysis of an expression. */
export type CelInspection = {
  /** The reason why the text is not an expression. */
  readonly problem?: string;
  /** The literal patterns of `matches`. */
  readonly patterns: readonly string[];
  readonly unknownNames: readonly string[];
  readonly usesHas: boolean;
};

const environment = createEnvironment(createMeter({ steps: 0 }));

/** Checks an expression whose variables are `message` and the given names. */
export function inspectCel(source: string, variables: readonly string[]): CelInspection {
  const { facts, problem } = parseCel(source);
  if (facts === undefined) return { problem, patterns: [], unknownNames: [], usesHas: false };
  const unknown = unknownNames(facts, ["message", ...variables], environment);
  return {
    patterns: facts.patterns.filter((pattern) => pattern !== undefined),
    unknownNames: [...unknown.variables, ...unknown.functions].map((name) => name.slice(0, 64)),
    usesHas: facts.usesHas,
  };
}
