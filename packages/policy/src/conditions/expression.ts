import { createCelEnvironment, createMeter, parseCel, unknownNames } from "@countersign/core/cel";
import type { CelInput } from "@bufbuild/cel";
import { isCelError, plan } from "@bufbuild/cel";
import { suggestName } from "../base/suggest.js";
import type { LinearPattern } from "../patterns/regular-expression.js";
import { compilePattern } from "../patterns/regular-expression.js";
import { toCelInput } from "./json-view.js";
import type { Spend } from "./json-view.js";

/** The names a condition may use. */
export const CONDITION_VARIABLES = [
  "event",
  "message",
  "session",
  "capability",
  "counters",
] as const;

/** A name a condition may use. */
export type ConditionVariable = (typeof CONDITION_VARIABLES)[number];

/**
 * Returns the value of a name; called only for names that the condition reads. `undefined` reads as
 * an empty map. The value calls `spend` for what is read of it.
 */
export type ConditionBindings = (name: ConditionVariable, spend: Spend) => CelInput | undefined;

/** A compiled condition; `undefined` means it could not be evaluated. */
export type CompiledCondition = { evaluate(bindings: ConditionBindings): boolean | undefined };

/**
 * Maximum steps of one evaluation: a loop iteration, 64 characters that a function reads, or 32 members that are read or
 * compared. A loop over 20,000 items has room for reading them.
 */
const MAX_CONDITION_STEPS = 22_000;
/** Maximum nesting of loops; each level multiplies the work. */
const MAX_LOOP_NESTING = 3;
/** Suggested for a misspelled function. */
const FUNCTION_NAMES = [
  "contains",
  "startsWith",
  "endsWith",
  "matches",
  "size",
  "has",
  "int",
  "string",
];
const EMPTY = toCelInput({}, () => {});

/**
 * Compiles a CEL expression. Variables and functions must exist, patterns must be literals (an agent
 * must not choose the pattern), and nesting is bounded.
 *
 * @throws Error with a message for the author, when the expression is invalid or exceeds a limit
 */
export function compileCondition(source: string): CompiledCondition {
  const meter = createMeter({ steps: MAX_CONDITION_STEPS });
  const patterns = new Map<string, LinearPattern>();
  const environment = createCelEnvironment(meter, (pattern) => {
    const compiled = patterns.get(pattern);
    if (compiled === undefined) throw new TypeError("patterns must be literals");
    return compiled;
  });
  const { tree, facts, problem } = parseCel(source);
  if (tree === undefined) throw new SyntaxError(problem);
  const unknown = unknownNames(facts, CONDITION_VARIABLES, environment);
  assertKnown("variable", unknown.variables, CONDITION_VARIABLES);
  assertKnown("function", unknown.functions, FUNCTION_NAMES);
  if (facts.loops > MAX_LOOP_NESTING) {
    throw new RangeError(`loops may be nested at most ${MAX_LOOP_NESTING} deep`);
  }
  for (const pattern of facts.patterns) {
    if (pattern === undefined) {
      throw new TypeError("the pattern of matches() must be a string literal");
    }
    patterns.set(pattern, compilePattern(pattern));
  }
  const used = CONDITION_VARIABLES.filter((name) => facts.variables.has(name));
  const run = plan(environment, tree);
  const spend: Spend = (steps) => meter.spend(steps);
  return {
    evaluate(bindings) {
      meter.reset();
      const input: Record<string, CelInput> = {};
      for (const name of used) {
        input[name] = bindings(name, spend) ?? EMPTY;
      }
      try {
        const result = run(input);
        if (meter.exhausted || isCelError(result) || typeof result !== "boolean") return undefined;
        return result;
      } catch {
        // The library turns failures into values; any other error means no result.
        return undefined;
      }
    },
  };
}

function assertKnown(kind: string, [name]: readonly string[], candidates: Iterable<string>): void {
  if (name === undefined) return;
  const suggestion = suggestName(name, candidates);
  const hint = suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`;
  throw new TypeError(`unknown ${kind} "${name.slice(0, 64)}"${hint}`);
}
