import type { CelInput } from "@bufbuild/cel";
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

/** A name a condition may use. */
export type ConditionVariable = (typeof CONDITION_VARIABLES)[number];

/**
 * Returns the value of a name; called only for names that the condition reads. `undefined` reads as
 * an empty map.
 */
export type ConditionBindings = (name: ConditionVariable) => CelInput | undefined;

/** A compiled condition; `undefined` means it could not be evaluated. */
export type CompiledCondition = { evaluate(bindings: ConditionBindings): boolean | undefined };

const { BOOL, STRING } = CelScalar;
const CHARACTERS_PER_STEP = 64;
const MAX_NESTED_BRACKETS = 32;

// Operators that the planner handles itself, so that no function of that name exists.
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
 * @throws Error with a message for the author, when the expression is invalid or exceeds a limit
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
  const used = CONDITION_VARIABLES.filter((name) => inspection.used.has(name));
  const run = plan(environment, parsed);
  return {
    evaluate(bindings) {
      meter.reset();
      const input: Record<string, CelInput> = {};
      for (const name of used) {
        input[name] = bindings(name) ?? EMPTY;
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

function parseExpression(source: string): ReturnType<typeof parse> {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError("the expression is nested too deeply");
    const detail = error instanceof Error ? error.message : "cannot be parsed";
    throw new SyntaxError(detail.slice(0, 200));
  }
}

// The parser is recursive and retries alternatives at every bracket.
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
