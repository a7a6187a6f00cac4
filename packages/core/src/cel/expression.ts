import { parse } from "@bufbuild/cel";
import type { CelEnv } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { ExprSchema } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { create } from "@bufbuild/protobuf";

/** The function that every loop calls once per iteration; no author can write its name. */
export const TICK = "@countersign_tick";
/**
 * The function by which `map` and `filter` add to their result, in place of `+`: the library joins lists one in the other,
 * and reading the result takes the square of its length.
 */
export const APPEND = "@countersign_append";
/** Maximum nesting of brackets: the parser is recursive and retries alternatives at every bracket. */
export const MAX_CEL_BRACKETS = 32;
/** Maximum number of nodes of an expression. */
export const MAX_CEL_NODES = 2000;

/** The names and forms that an expression uses. */
export type CelFacts = {
  /** Names that no loop binds. */
  readonly variables: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  /** The patterns of `matches`; `undefined` for one that is not a literal. */
  readonly patterns: readonly (string | undefined)[];
  /** How deep loops are nested. */
  readonly loops: number;
  readonly usesHas: boolean;
};

/** An expression ready to be planned, or the reason why the text is none. */
export type ParsedCel =
  | {
      readonly tree: ReturnType<typeof parse>;
      readonly facts: CelFacts;
      readonly problem?: never;
    }
  | { readonly problem: string; readonly tree?: never; readonly facts?: never };

/** Parses an expression within limits and makes its loops count their iterations. */
export function parseCel(source: string): ParsedCel {
  if (bracketDepth(source) > MAX_CEL_BRACKETS) {
    return { problem: `brackets may be nested at most ${MAX_CEL_BRACKETS} deep` };
  }
  let tree: ReturnType<typeof parse>;
  try {
    tree = parse(source);
  } catch (error) {
    if (error instanceof RangeError) return { problem: "the expression is nested too deeply" };
    const detail = error instanceof Error ? error.message : "cannot be parsed";
    return { problem: detail.slice(0, 200) };
  }
  const facts = prepareTree(tree.expr);
  if (facts !== undefined) return { tree, facts };
  return { problem: `the expression has more than ${MAX_CEL_NODES} parts` };
}

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

// Operators that the planner handles itself, so that no function of that name exists.
const OPERATORS: ReadonlySet<string> = new Set([
  "_&&_",
  "_||_",
  "_?_:_",
  "_[_]",
  "@not_strictly_false",
  "__not_strictly_false__",
]);

/** The names of an expression that neither the caller's variables nor the environment define. */
export function unknownNames(
  facts: CelFacts,
  variables: readonly string[],
  { funcs }: CelEnv,
): { readonly variables: readonly string[]; readonly functions: readonly string[] } {
  return {
    variables: [...facts.variables].filter(
      (name) => !variables.includes(name) && !TYPE_NAMES.has(name),
    ),
    functions: [...facts.functions].filter(
      (name) => !OPERATORS.has(name) && funcs.find(name) === undefined,
    ),
  };
}

/** Walks an expression once; `undefined` when it has too many nodes. */
function prepareTree(root: Expr): CelFacts | undefined {
  const variables = new Set<string>();
  const functions = new Set<string>();
  const patterns: (string | undefined)[] = [];
  let usesHas = false;
  let loops = 0;
  let nodes = 0;

  const visitAll = (parts: readonly (Expr | undefined)[], scope: Scope): void => {
    for (const part of parts) visit(part, scope);
  };
  const visit = (expression: Expr | undefined, scope: Scope): void => {
    if (expression === undefined || nodes > MAX_CEL_NODES) return;
    nodes += 1;
    const kind = expression.exprKind;
    switch (kind.case) {
      case "identExpr":
        if (!scope.bound.has(kind.value.name)) variables.add(kind.value.name);
        return;
      case "selectExpr":
        if (kind.value.testOnly) usesHas = true;
        visit(kind.value.operand, scope);
        return;
      case "callExpr": {
        const { function: name, target, args } = kind.value;
        functions.add(name);
        if (name === "_+_" && isAccumulator(args[0], scope)) kind.value.function = APPEND;
        if (name === "matches") patterns.push(literalText(args.at(-1)));
        visitAll([target, ...args], scope);
        return;
      }
      case "listExpr":
        visitAll(kind.value.elements, scope);
        return;
      case "structExpr":
        for (const { keyKind, value } of kind.value.entries) {
          if (keyKind.case === "mapKey") visit(keyKind.value, scope);
          visit(value, scope);
        }
        return;
      case "comprehensionExpr": {
        const loop = kind.value;
        visitAll([loop.iterRange, loop.accuInit], scope);
        const bound = new Set([...scope.bound, loop.iterVar, loop.iterVar2, loop.accuVar]);
        const inner = { bound, depth: scope.depth + 1, accumulator: loop.accuVar };
        loops = Math.max(loops, inner.depth);
        visitAll([loop.loopCondition, loop.loopStep, loop.result], inner);
        if (loop.loopCondition !== undefined) loop.loopCondition = ticking(loop.loopCondition);
        return;
      }
      default:
    }
  };

  visit(root, { bound: new Set(), depth: 0 });
  if (nodes > MAX_CEL_NODES) return undefined;
  return { variables, functions, patterns, loops, usesHas };
}

type Scope = {
  readonly bound: ReadonlySet<string>;
  readonly depth: number;
  /** The name of the result of the loop around; no author can write it. */
  readonly accumulator?: string;
};

function isAccumulator(expression: Expr | undefined, { accumulator }: Scope): boolean {
  const kind = expression?.exprKind;
  return kind?.case === "identExpr" && kind.value.name === accumulator;
}

function ticking(condition: Expr): Expr {
  return create(ExprSchema, {
    id: condition.id,
    exprKind: { case: "callExpr", value: { function: TICK, args: [condition] } },
  });
}

function literalText(expression: Expr | undefined): string | undefined {
  const kind = expression?.exprKind;
  if (kind?.case !== "constExpr" || kind.value.constantKind.case !== "stringValue")
    return undefined;
  return kind.value.constantKind.value;
}

/** How deep the brackets of an expression are nested, without those in string literals and comments. */
function bracketDepth(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (character === '"' || character === "'") index = endOfLiteral(source, index, character);
    else if (source.startsWith("//", index)) index = endOfLine(source, index);
    else if ("([{".includes(character)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (")]}".includes(character)) depth -= 1;
  }
  return deepest;
}

function endOfLine(source: string, start: number): number {
  const end = source.indexOf("\n", start);
  return end === -1 ? source.length : end;
}

/** The last character of a literal; the end of the text when it is not closed. */
function endOfLiteral(source: string, start: number, quote: string): number {
  const raw = start > 0 && /[rR]/.test(source.charAt(start - 1));
  const triple = quote.repeat(3);
  const closing = source.startsWith(triple, start) ? triple : quote;
  for (let index = start + closing.length; index < source.length; index += 1) {
    if (!raw && source.charAt(index) === "\\") index += 1;
    else if (source.startsWith(closing, index)) return index + closing.length - 1;
  }
  return source.length;
}
