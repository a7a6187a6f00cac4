import { create } from "@bufbuild/protobuf";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { ExprSchema } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";

/** The function every loop calls once a round; no author can write its name. */
export const TICK = "@countersign_tick";

/** Parts an expression may have. */
export const MAX_CEL_NODES = 2000;

/** The result of walking an expression. */
export type ExpressionFacts = {
  /** Names that are used and not bound by a loop. */
  readonly variables: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  /** Literal patterns of `matches`. */
  readonly patterns: readonly string[];
  readonly usesHas: boolean;
};

/**
 * Walks an expression once, before it ever runs: gathers the names it uses and makes its loops count
 * their rounds.
 *
 * @throws RangeError when the expression has more than {@link MAX_CEL_NODES} parts
 */
export function prepareTree(root: Expr): ExpressionFacts {
  const variables = new Set<string>();
  const functions = new Set<string>();
  const patterns: string[] = [];
  let usesHas = false;
  let nodes = 0;

  const visitAll = (parts: readonly (Expr | undefined)[], bound: ReadonlySet<string>): void => {
    for (const part of parts) visit(part, bound);
  };
  const visit = (expression: Expr | undefined, bound: ReadonlySet<string>): void => {
    if (expression === undefined) return;
    nodes += 1;
    if (nodes > MAX_CEL_NODES) {
      throw new RangeError(`the expression has more than ${MAX_CEL_NODES} parts`);
    }
    const kind = expression.exprKind;
    switch (kind.case) {
      case "identExpr":
        if (!bound.has(kind.value.name)) variables.add(kind.value.name);
        return;
      case "selectExpr":
        if (kind.value.testOnly) usesHas = true;
        visit(kind.value.operand, bound);
        return;
      case "callExpr": {
        functions.add(kind.value.function);
        if (kind.value.function === "matches")
          patterns.push(...literalText(kind.value.args.at(-1)));
        visitAll([kind.value.target, ...kind.value.args], bound);
        return;
      }
      case "listExpr":
        visitAll(kind.value.elements, bound);
        return;
      case "structExpr":
        for (const { keyKind, value } of kind.value.entries) {
          if (keyKind.case === "mapKey") visit(keyKind.value, bound);
          visit(value, bound);
        }
        return;
      case "comprehensionExpr": {
        const loop = kind.value;
        visitAll([loop.iterRange, loop.accuInit], bound);
        const inner = new Set([...bound, loop.iterVar, loop.iterVar2, loop.accuVar]);
        visitAll([loop.loopCondition, loop.loopStep, loop.result], inner);
        if (loop.loopCondition !== undefined) loop.loopCondition = ticking(loop.loopCondition);
        return;
      }
      default:
    }
  };

  visit(root, new Set());
  return { variables, functions, patterns, usesHas };
}

function ticking(condition: Expr): Expr {
  return create(ExprSchema, {
    id: condition.id,
    exprKind: { case: "callExpr", value: { function: TICK, args: [condition] } },
  });
}

function literalText(expression: Expr | undefined): string[] {
  const kind = expression?.exprKind;
  if (kind?.case !== "constExpr" || kind.value.constantKind.case !== "stringValue") return [];
  return [kind.value.constantKind.value];
}
