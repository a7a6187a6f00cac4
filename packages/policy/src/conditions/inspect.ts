import { create } from "@bufbuild/protobuf";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { ExprSchema } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { suggestName } from "../base/suggest.js";

/**
 * The function that every loop of an expression calls once per iteration; no author can write its
 * name.
 */
export const TICK = "@countersign_tick";

/** Maximum nesting of loops; each level multiplies the work. */
export const MAX_LOOP_NESTING = 3;
/** Maximum number of nodes of an expression. */
export const MAX_EXPRESSION_NODES = 2000;

/** The result of inspecting an expression. */
export type Inspection = {
  readonly patterns: readonly string[];
  /** The variables that it reads: only these need a value. */
  readonly used: ReadonlySet<string>;
};

/**
 * Checks an expression before it runs and makes its loops count: variables and functions must
 * exist, patterns must be literals (an agent must not choose the pattern), nesting is bounded.
 */
export function inspectExpression(
  root: Expr,
  variables: ReadonlySet<string>,
  isFunction: (name: string) => boolean,
): Inspection {
  const patterns: string[] = [];
  const used = new Set<string>();
  let nodes = 0;

  const visitAll = (expressions: readonly (Expr | undefined)[], scope: Scope): void => {
    for (const expression of expressions) visit(expression, scope);
  };

  const visit = (expression: Expr | undefined, scope: Scope): void => {
    if (expression === undefined) return;
    nodes += 1;
    if (nodes > MAX_EXPRESSION_NODES) throw new RangeError("the expression is too large");
    const kind = expression.exprKind;
    switch (kind.case) {
      case "identExpr":
        if (!scope.names.has(kind.value.name) && !TYPE_NAMES.has(kind.value.name)) {
          throw new TypeError(unknown("variable", kind.value.name, variables));
        }
        used.add(kind.value.name);
        return;
      case "selectExpr":
        visit(kind.value.operand, scope);
        return;
      case "callExpr": {
        const { function: name, target, args } = kind.value;
        if (!isFunction(name)) throw new TypeError(unknown("function", name, FUNCTION_NAMES));
        if (name === "matches") patterns.push(literal(args.at(-1)));
        visitAll([target, ...args], scope);
        return;
      }
      case "listExpr":
        visitAll(kind.value.elements, scope);
        return;
      case "structExpr":
        for (const entry of kind.value.entries) {
          if (entry.keyKind.case === "mapKey") visit(entry.keyKind.value, scope);
          visit(entry.value, scope);
        }
        return;
      case "comprehensionExpr": {
        const loop = kind.value;
        if (scope.loops >= MAX_LOOP_NESTING) {
          throw new RangeError(`loops may be nested at most ${MAX_LOOP_NESTING} deep`);
        }
        visitAll([loop.iterRange, loop.accuInit], scope);
        const names = new Set([...scope.names, loop.iterVar, loop.iterVar2, loop.accuVar]);
        const inner = { names, loops: scope.loops + 1 };
        visitAll([loop.loopCondition, loop.loopStep, loop.result], inner);
        if (loop.loopCondition !== undefined) loop.loopCondition = ticking(loop.loopCondition);
        return;
      }
      default:
    }
  };

  visit(root, { names: variables, loops: 0 });
  return { patterns, used };
}

type Scope = { readonly names: ReadonlySet<string>; readonly loops: number };

function ticking(condition: Expr): Expr {
  return create(ExprSchema, {
    id: condition.id,
    exprKind: { case: "callExpr", value: { function: TICK, args: [condition] } },
  });
}

function literal(expression: Expr | undefined): string {
  const kind = expression?.exprKind;
  if (kind?.case === "constExpr" && kind.value.constantKind.case === "stringValue") {
    return kind.value.constantKind.value;
  }
  throw new TypeError("the pattern of matches() must be a string literal");
}

function unknown(what: string, name: string, candidates: Iterable<string>): string {
  const suggestion = suggestName(name, candidates);
  return `unknown ${what} "${name.slice(0, 64)}"${suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`}`;
}

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
