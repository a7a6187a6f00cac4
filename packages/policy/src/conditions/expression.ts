import type { JsonObject } from "@countersign/core";
import { celEnv, celFunc, celMethod, CelScalar, isCelError, parse, plan } from "@bufbuild/cel";
import type { LinearPattern } from "../patterns/regular-expression.js";
import { compilePattern } from "../patterns/regular-expression.js";
import { inspectExpression, TICK } from "./inspect.js";
import { toCelInput } from "./json-view.js";
import { createMeter } from "./meter.js";

/** The names a condition may use. */
export const CONDITION_VARIABLES = [
  "event",
  "message",
  "session",
  "capability",
  "counters",
] as const;

/** Values for the names; a missing one reads as an empty map. */
export type ConditionBindings = Partial<
  Record<(typeof CONDITION_VARIABLES)[number], JsonObject | undefined>
>;

/** A condition ready to be asked; `undefined` means it could not be evaluated. */
export type CompiledCondition = { evaluate(bindings: ConditionBindings): boolean | undefined };

const { BOOL, STRING } = CelScalar;
const CHARACTERS_PER_STEP = 64;
const MAX_NESTED_BRACKETS = 32;

// Operators the planner handles itself, so that no function of that name exists.
const OPERATORS: ReadonlySet<string> = new Set([
  "_&&_",
  "_||_",
  "_?_:_",
  "_[_]",
  "@not_strictly_false",
  "__not_strictly_false__",
  "_==_",
  "_!=_",
  "type",
]);

const EMPTY = toCelInput({});

/**
 * Compiles a CEL expression.
 *
 * @throws Error with a sentence for the author, when the expression is not one or asks too much
 */
export function compileCondition(source: string): CompiledCondition {
  assertShallow(source);
  const meter = createMeter();
  const patterns = new Map<string, LinearPattern>();
  const searching = (text: string): void => meter.spend(1 + text.length / CHARACTERS_PER_STEP);
  const match = (text: string, pattern: string): boolean => {
    searching(text);
    const compiled = patterns.get(pattern);
    if (compiled === undefined) throw new TypeError("patterns must be literals");
    return compiled.test(text);
  };
  const environment = celEnv({
    re2: {
      compile: (pattern) => ({ test: (text) => match(text, pattern) }),
    },
    funcs: [
      celFunc(TICK, [BOOL], BOOL, (condition) => {
        meter.spend(1);
        return condition;
      }),
      celFunc("matches", [STRING, STRING], BOOL, match),
      celMethod("contains", STRING, [STRING], BOOL, function contains(part) {
        searching(this);
        return this.includes(part);
      }),
    ],
  });
  const parsed = parseExpression(source);
  const inspection = inspectExpression(
    parsed.expr,
    new Set(CONDITION_VARIABLES),
    (name) => OPERATORS.has(name) || environment.funcs.find(name) !== undefined,
  );
  for (const pattern of inspection.patterns) patterns.set(pattern, compilePattern(pattern));
  const run = plan(environment, parsed);
  return {
    evaluate(bindings) {
      meter.reset();
      const input = {
        event: bindings.event === undefined ? EMPTY : toCelInput(bindings.event),
        message: bindings.message === undefined ? EMPTY : toCelInput(bindings.message),
        session: bindings.session === undefined ? EMPTY : toCelInput(bindings.session),
        capability: bindings.capability === undefined ? EMPTY : toCelInput(bindings.capability),
        counters: bindings.counters === undefined ? EMPTY : toCelInput(bindings.counters),
      };
      try {
        const result = run(input);
        if (meter.exhausted || isCelError(result) || typeof result !== "boolean") return undefined;
        return result;
      } catch {
        // The library turns failures into values; whatever still escapes is an answer we do not have.
        return undefined;
      }
    },
  };
}

function parseExpression(source: string): ReturnType<typeof parse> {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError("the expression is nested too deeply");
    const detail = error instanceof Error ? error.message : "cannot be parsed";
    throw new SyntaxError(detail.slice(0, 200));
  }
}

// The parser is recursive and tries alternatives again at every bracket.
function assertShallow(source: string): void {
  let depth = 0;
  for (const character of source) {
    if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) depth -= 1;
    if (depth > MAX_NESTED_BRACKETS) {
      throw new RangeError(`brackets may be nested at most ${MAX_NESTED_BRACKETS} deep`);
    }
  }
}
