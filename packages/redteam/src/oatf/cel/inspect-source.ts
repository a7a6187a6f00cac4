import { createEnvironment } from "./environment.js";
import { createMeter } from "./meter.js";
import { parseCel } from "./parse-source.js";

/** The static analysis of an expression. */
export type CelInspection = {
  /** The reason why the text is not an expression. */
  readonly problem?: string;
  /** The literal patterns of `matches`. */
  readonly patterns: readonly string[];
  readonly unknownNames: readonly string[];
  readonly usesHas: boolean;
};

const TYPE_NAMES: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "list",
  "map",
  "null_type",
  "string",
  "timestamp",
  "type",
  "uint",
]);

// Operators the planner handles itself, so that no function of that name exists.
const OPERATORS: ReadonlySet<string> = new Set([
  "_&&_",
  "_||_",
  "_?_:_",
  "_[_]",
  "@not_strictly_false",
  "__not_strictly_false__",
]);

const functions = createEnvironment(createMeter(() => 0)).funcs;

/** Checks an expression whose variables are `message` and the given names. */
export function inspectCel(source: string, variables: readonly string[]): CelInspection {
  const { facts, problem } = parseCel(source);
  if (facts === undefined) return { problem, patterns: [], unknownNames: [], usesHas: false };
  const known = new Set(["message", ...variables]);
  const unknownNames = [
    ...[...facts.variables].filter((name) => !known.has(name) && !TYPE_NAMES.has(name)),
    ...[...facts.functions].filter(
      (name) => !OPERATORS.has(name) && functions.find(name) === undefined,
    ),
  ].map((name) => name.slice(0, 64));
  return { patterns: facts.patterns, unknownNames, usesHas: facts.usesHas };
}
