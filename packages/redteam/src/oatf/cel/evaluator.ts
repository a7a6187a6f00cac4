import type { JsonValue } from "@countersign/core";
import { createJsonView, createMeter } from "@countersign/core/cel";
import type { CelInput } from "@bufbuild/cel";
import { isCelError, plan } from "@bufbuild/cel";
import { createBoundedCache } from "../json/bounded-cache.js";
import { createEnvironment } from "./environment.js";
import { parseCel } from "./parse-source.js";

/** Steps one evaluation may take: a loop round, a value read, or 256 characters of text. */
const MAX_CEL_STEPS = 50_000;
/** Milliseconds one evaluation may take. */
const MAX_CEL_MILLISECONDS = 1000;

/** The result of an expression. */
export type CelResult =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly message: string };

/** Evaluates CEL expressions; never throws on data. */
export type CelEvaluator = {
  evaluate(expression: string, variables: ReadonlyMap<string, JsonValue>): CelResult;
};

type Planned =
  | { readonly run: ReturnType<typeof plan>; readonly problem?: never }
  | { readonly problem: string; readonly run?: never };

/**
 * The evaluator we ship: bounded in steps and time, patterns on a linear engine, own members only.
 * Expressions are planned once and kept.
 */
export function createCelEvaluator(options: { readonly now?: () => number } = {}): CelEvaluator {
  const now = options.now ?? (() => performance.now());
  const meter = createMeter({
    steps: MAX_CEL_STEPS,
    time: { milliseconds: MAX_CEL_MILLISECONDS, now },
  });
  const view = createJsonView(meter);
  const environment = createEnvironment(meter);
  const planned = createBoundedCache<Planned>(256);
  const prepare = (source: string): Planned => {
    const { tree, problem } = parseCel(source);
    if (tree === undefined) return { problem };
    try {
      return { run: plan(environment, tree) };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  };
  return {
    evaluate(expression, variables) {
      const { run, problem } = planned.getOrCreate(expression, prepare);
      if (run === undefined) return { kind: "error", message: problem };
      meter.reset();
      try {
        const input: Record<string, CelInput> = Object.create(null);
        for (const [name, value] of variables) input[name] = view(value);
        const result = run(input);
        // A result reached after the budget ran out is discarded.
        if (meter.exhausted) return { kind: "error", message: "the expression takes too long" };
        if (isCelError(result)) return { kind: "error", message: messageOf(result) };
        return { kind: "value", value: result };
      } catch (error) {
        return { kind: "error", message: messageOf(error) };
      }
    },
  };
}

/** Messages of the library name fields and types, and now and then a value: only the first words are kept. */
function messageOf(error: { readonly message?: unknown } | unknown): string {
  const text =
    typeof error === "object" && error !== null && "message" in error ? String(error.message) : "";
  return text === "" ? "the expression failed" : text.slice(0, 160);
}
