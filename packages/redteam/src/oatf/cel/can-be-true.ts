import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import type { JsonValue } from "@countersign/core";
import { EACH } from "../model/message-paths.js";
import { parseCel } from "./parse-source.js";

/** The possible values of an expression's inputs, and the facts known about its parts. */
type Walk = {
  /** Whether a message can have a value at a path. */
  readonly canHold: (path: readonly string[]) => boolean;
  /** Whether a message can have a value at a path that satisfies all conditions. */
  readonly canHoldValue: (path: readonly string[], conditions: readonly JsonValue[]) => boolean;
  /** Paths of the variables; one that leads nowhere is null. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  /** By part: whether it can be false, whether it can be true. */
  readonly answers: readonly [Map<Expr | undefined, boolean>, Map<Expr | undefined, boolean>];
  readonly paths: Map<Expr, readonly string[] | undefined>;
};

/**
 * Whether an expression can come to true on messages that have certain members only. `has()` of a member that
 * no message has is false, and reading it is an error, so `has(message.typo) && …` never holds. Errs on the side
 * of yes: what the tree does not show, such as the elements of a loop, may be anything.
 */
export function canBeTrue(
  source: string,
  walk: Pick<Walk, "canHold" | "canHoldValue" | "variables">,
): boolean {
  const { tree } = parseCel(source);
  if (tree === undefined) return true;
  return can(tree.expr, true, { ...walk, answers: [new Map(), new Map()], paths: new Map() });
}

/** Whether an expression can come to `wanted`; each part is asked once for true and once for false. */
function can(expression: Expr | undefined, wanted: boolean, walk: Walk): boolean {
  const answers = walk.answers[wanted ? 1 : 0];
  const known = answers.get(expression);
  if (known !== undefined) return known;
  const answer = decide(expression, wanted, walk);
  answers.set(expression, answer && isConsistent(expression, wanted, walk));
  return answers.get(expression) === true;
}

function decide(expression: Expr | undefined, wanted: boolean, walk: Walk): boolean {
  const kind = expression?.exprKind;
  if (kind?.case === "constExpr" && kind.value.constantKind.case === "boolValue") {
    return kind.value.constantKind.value === wanted;
  }
  if (kind?.case === "selectExpr" && kind.value.testOnly) {
    const path = pathOf(kind.value.operand, walk);
    if (!wanted || path === undefined) return true;
    return walk.canHold([...path, kind.value.field]);
  }
  if (kind?.case === "callExpr") {
    const [first, second, third] = kind.value.args;
    switch (kind.value.function) {
      case "!_":
        return can(first, !wanted, walk);
      case "_&&_":
      case "_||_": {
        const needsBoth = (kind.value.function === "_&&_") === wanted;
        const one = can(first, wanted, walk);
        return needsBoth ? one && can(second, wanted, walk) : one || can(second, wanted, walk);
      }
      case "_?_:_":
        return (
          (can(first, true, walk) && can(second, wanted, walk)) ||
          (can(first, false, walk) && can(third, wanted, walk))
        );
      case "@in": {
        const path = pathOf(second, walk);
        const key = textOf(first);
        if (path === undefined || key === undefined) {
          return kind.value.args.every((part) => canRead(part, walk));
        }
        return !wanted || [key, EACH].some((step) => walk.canHold([...path, step]));
      }
      case "_==_":
      case "_!=_":
        return canCompare(kind.value.args, (kind.value.function === "_==_") === wanted, walk);
      default:
    }
  }
  return canRead(expression, walk);
}

/**
 * Whether what an expression asks of each path can hold at once, where all of it has to: `d == "a" && d == "b"` never
 * does. Elements of lists are left out, because the steps do not tell them apart.
 */
function isConsistent(expression: Expr | undefined, wanted: boolean, walk: Walk): boolean {
  const asked = new Map<string, { path: readonly string[]; conditions: JsonValue[] }>();
  gather(expression, wanted, walk, ({ path, condition }) => {
    const key = JSON.stringify(path);
    const known = asked.get(key) ?? { path, conditions: [] };
    known.conditions.push(condition);
    asked.set(key, known);
  });
  return [...asked.values()].every(({ path, conditions }) => walk.canHoldValue(path, conditions));
}

type Asked = { readonly path: readonly string[]; readonly condition: JsonValue };

const ORDERS: ReadonlyMap<string, readonly [same: string, flipped: string, negated: string]> =
  new Map([
    ["_<_", ["lt", "gt", "_>=_"]],
    ["_<=_", ["lte", "gte", "_>_"]],
    ["_>_", ["gt", "lt", "_<=_"]],
    ["_>=_", ["gte", "lte", "_<_"]],
  ]);
const METHODS: ReadonlyMap<string, string> = new Map([
  ["contains", "contains"],
  ["startsWith", "starts_with"],
  ["endsWith", "ends_with"],
  ["matches", "regex"],
]);

/** Collects what has to hold of paths for an expression to come to `wanted`. */
function gather(
  expression: Expr | undefined,
  wanted: boolean,
  walk: Walk,
  ask: (asked: Asked) => void,
): void {
  const kind = expression?.exprKind;
  if (kind?.case !== "callExpr") return;
  const { function: name, target, args } = kind.value;
  const [first, second] = args;
  if (name === "!_") {
    gather(first, !wanted, walk, ask);
  } else if (name === (wanted ? "_&&_" : "_||_")) {
    gather(first, wanted, walk, ask);
    gather(second, wanted, walk, ask);
  } else if (name === (wanted ? "_==_" : "_!=_")) {
    for (const [side, other] of [
      [first, second],
      [second, first],
    ]) {
      const path = singlePath(side, walk);
      const value = constantOf(other);
      if (path !== undefined && value !== undefined) ask({ path, condition: value });
    }
  } else if (name === "@in" && wanted && second?.exprKind.case === "listExpr") {
    const path = singlePath(first, walk);
    const values = second.exprKind.value.elements.map(constantOf);
    const known = values.filter((value) => value !== undefined);
    if (path !== undefined && known.length === values.length) {
      ask({ path, condition: { any_of: known } });
    }
  } else if (ORDERS.has(name)) {
    const [same, flipped] = ORDERS.get(wanted ? name : (ORDERS.get(name)?.[2] ?? "")) ?? ["", ""];
    const left = singlePath(first, walk);
    const right = singlePath(second, walk);
    const [path, operand, order] =
      left === undefined ? [right, constantOf(first), flipped] : [left, constantOf(second), same];
    if (path !== undefined && typeof operand === "number") {
      ask({ path, condition: { [order]: operand } });
    }
  } else if (wanted && METHODS.has(name)) {
    const path = singlePath(target, walk);
    const text = textOf(first);
    if (path !== undefined && text !== undefined) {
      ask({ path, condition: { [METHODS.get(name) ?? ""]: text } });
    }
  }
}

/** A path that leads to one value of a message, which a message can have. */
function singlePath(expression: Expr | undefined, walk: Walk): readonly string[] | undefined {
  const path = pathOf(expression, walk);
  if (path === undefined || path.includes(EACH) || !walk.canHold(path)) return undefined;
  return path;
}

function constantOf(expression: Expr | undefined): JsonValue | undefined {
  const kind = expression?.exprKind;
  if (kind?.case !== "constExpr") return undefined;
  const constant = kind.value.constantKind;
  switch (constant.case) {
    case "stringValue":
    case "boolValue":
    case "doubleValue":
      return constant.value;
    case "int64Value":
    case "uint64Value":
      return Number(constant.value);
    default:
      return undefined;
  }
}

/** A variable that leads nowhere is null: it equals null alone. */
function canCompare(sides: readonly Expr[], asEqual: boolean, walk: Walk): boolean {
  return sides.every((side, index) => {
    if (!canRead(side, walk)) return false;
    const path = isVariable(side, walk) ? pathOf(side, walk) : undefined;
    if (!asEqual || path === undefined || walk.canHold(path)) return true;
    const other = sides[1 - index]?.exprKind;
    return other?.case !== "constExpr" || other.value.constantKind.case === "nullValue";
  });
}

function isVariable(expression: Expr | undefined, { variables }: Walk): boolean {
  const kind = expression?.exprKind;
  return kind?.case === "identExpr" && variables.has(kind.value.name);
}

/** Operators that come to true or false, some of them where one of their sides fails. */
const DECIDING: ReadonlySet<string> = new Set(["!_", "_&&_", "_||_", "_==_", "_!=_", "@in"]);

/** Whether an expression can come to a value: what it reads of a message can be there. */
function canRead(expression: Expr | undefined, walk: Walk): boolean {
  if (isVariable(expression, walk)) return true;
  const path = pathOf(expression, walk);
  if (path !== undefined) return walk.canHold(path);
  const kind = expression?.exprKind;
  switch (kind?.case) {
    case "selectExpr":
      return canRead(kind.value.operand, walk);
    case "callExpr": {
      const { function: name, target, args } = kind.value;
      const [condition, one, other] = args;
      if (DECIDING.has(name)) return can(expression, true, walk) || can(expression, false, walk);
      if (name === "_?_:_") {
        return (
          (can(condition, true, walk) && canRead(one, walk)) ||
          (can(condition, false, walk) && canRead(other, walk))
        );
      }
      // Null has no methods.
      const held = isVariable(target, walk) ? pathOf(target, walk) : undefined;
      if (held !== undefined && !walk.canHold(held)) return false;
      return [target, ...args].every((part) => canRead(part, walk));
    }
    case "listExpr":
      return kind.value.elements.every((part) => canRead(part, walk));
    case "comprehensionExpr":
      return canRead(kind.value.iterRange, walk);
    default:
      return true;
  }
}

/** `message.a["b"][0]` as steps; `undefined` when an expression is not a path into the message. */
function pathOf(expression: Expr | undefined, walk: Walk): readonly string[] | undefined {
  if (expression === undefined) return undefined;
  if (!walk.paths.has(expression)) walk.paths.set(expression, readPath(expression, walk));
  return walk.paths.get(expression);
}

function readPath(expression: Expr, walk: Walk): readonly string[] | undefined {
  const kind = expression.exprKind;
  if (kind.case === "identExpr") {
    return kind.value.name === "message" ? [] : walk.variables.get(kind.value.name);
  }
  if (kind.case === "selectExpr" && !kind.value.testOnly) {
    const path = pathOf(kind.value.operand, walk);
    return path === undefined ? undefined : [...path, kind.value.field];
  }
  if (kind.case !== "callExpr" || kind.value.function !== "_[_]") return undefined;
  const [holder, index] = kind.value.args;
  const path = pathOf(holder, walk);
  if (path === undefined || index?.exprKind.case !== "constExpr") return undefined;
  return [...path, textOf(index) ?? EACH];
}

function textOf(expression: Expr | undefined): string | undefined {
  const kind = expression?.exprKind;
  if (kind?.case !== "constExpr" || kind.value.constantKind.case !== "stringValue")
    return undefined;
  return kind.value.constantKind.value;
}
