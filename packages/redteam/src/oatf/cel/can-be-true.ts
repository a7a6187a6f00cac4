import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { EACH } from "../model/message-paths.js";
import { parseCel } from "./parse-source.js";

/** Which members of `message` an expression reads and what there can be. */
type Reach = {
  /** Whether a message can have a value at a path. */
  readonly canHold: (path: readonly string[]) => boolean;
  /** Paths of the variables; one that leads nowhere is null. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
};

/**
 * Whether an expression can come to true on messages that have certain members only. `has()` of a member that
 * no message has is false, and reading it is an error, so `has(message.typo) && …` never holds. Errs on the side
 * of yes: what the tree does not show, such as the elements of a loop, may be anything.
 */
export function canBeTrue(source: string, reach: Reach): boolean {
  const { tree } = parseCel(source);
  return tree === undefined || can(tree.expr, true, reach);
}

/** Whether an expression can come to `wanted`. */
function can(expression: Expr | undefined, wanted: boolean, reach: Reach): boolean {
  const kind = expression?.exprKind;
  if (kind?.case === "constExpr" && kind.value.constantKind.case === "boolValue") {
    return kind.value.constantKind.value === wanted;
  }
  if (kind?.case === "selectExpr" && kind.value.testOnly) {
    const path = pathOf(kind.value.operand, reach);
    if (!wanted || path === undefined) return true;
    return reach.canHold([...path, kind.value.field]);
  }
  if (kind?.case === "callExpr") {
    const [first, second, third] = kind.value.args;
    switch (kind.value.function) {
      case "!_":
        return can(first, !wanted, reach);
      case "_&&_":
      case "_||_": {
        const needsBoth = (kind.value.function === "_&&_") === wanted;
        const one = can(first, wanted, reach);
        return needsBoth ? one && can(second, wanted, reach) : one || can(second, wanted, reach);
      }
      case "_?_:_":
        return (
          (can(first, true, reach) && can(second, wanted, reach)) ||
          (can(first, false, reach) && can(third, wanted, reach))
        );
      case "@in": {
        const path = pathOf(second, reach);
        const key = textOf(first);
        if (path === undefined || key === undefined) break;
        return !wanted || [key, EACH].some((step) => reach.canHold([...path, step]));
      }
      case "_==_":
      case "_!=_":
        return canCompare(kind.value.args, (kind.value.function === "_==_") === wanted, reach);
      default:
    }
  }
  return canRead(expression, reach);
}

/** A variable that leads nowhere is null: it differs from everything but null. */
function canCompare(sides: readonly Expr[], asEqual: boolean, reach: Reach): boolean {
  return sides.every((side, index) => {
    const kind = side.exprKind;
    const path = kind.case === "identExpr" ? reach.variables.get(kind.value.name) : undefined;
    if (path === undefined) return canRead(side, reach);
    return reach.canHold(path) || !asEqual || isNull(sides[1 - index]);
  });
}

function isNull(expression: Expr | undefined): boolean {
  const kind = expression?.exprKind;
  return kind?.case === "constExpr" && kind.value.constantKind.case === "nullValue";
}

/** Whether everything an expression reads of a message can be there. */
function canRead(expression: Expr | undefined, reach: Reach): boolean {
  const path = pathOf(expression, reach);
  if (path !== undefined) return reach.canHold(path);
  const kind = expression?.exprKind;
  switch (kind?.case) {
    case "selectExpr":
      return canRead(kind.value.operand, reach);
    case "callExpr":
      return [kind.value.target, ...kind.value.args].every((part) => canRead(part, reach));
    case "listExpr":
      return kind.value.elements.every((part) => canRead(part, reach));
    case "comprehensionExpr":
      return canRead(kind.value.iterRange, reach);
    default:
      return true;
  }
}

/** `message.a["b"][0]` as steps; `undefined` when an expression is not a path into the message. */
function pathOf(expression: Expr | undefined, reach: Reach): readonly string[] | undefined {
  const kind = expression?.exprKind;
  if (kind?.case === "identExpr") {
    return kind.value.name === "message" ? [] : reach.variables.get(kind.value.name);
  }
  if (kind?.case === "selectExpr" && !kind.value.testOnly) {
    const path = pathOf(kind.value.operand, reach);
    return path === undefined ? undefined : [...path, kind.value.field];
  }
  if (kind?.case !== "callExpr" || kind.value.function !== "_[_]") return undefined;
  const [holder, index] = kind.value.args;
  const path = pathOf(holder, reach);
  if (path === undefined || index?.exprKind.case !== "constExpr") return undefined;
  return [...path, textOf(index) ?? EACH];
}

function textOf(expression: Expr | undefined): string | undefined {
  const kind = expression?.exprKind;
  if (kind?.case !== "constExpr" || kind.value.constantKind.case !== "stringValue")
    return undefined;
  return kind.value.constantKind.value;
}
