import { isJsonObject } from "@countersign/core";
import type { Path, Source } from "../yaml/source.js";
import { formatPath } from "../yaml/source.js";
import type { ExpressionBudget } from "./expression-budget.js";
import { createExpressionBudget } from "./expression-budget.js";
import type { Diagnostic, ValidationError, ValidationResult, WarningCode } from "./finding.js";
import type { RuleCode } from "./rules.js";
import { RULES } from "./rules.js";

/** Collects findings; the rules below `validate` only ever see this face. */
export type Report = {
  /** A broken rule. */
  error(rule: RuleCode, path: Path, message: string): void;
  /** Something odd. */
  warn(code: WarningCode, path: Path, message: string): void;
  /** The remaining compile budget. */
  readonly budget: ExpressionBudget;
};

type Placed<Finding> = { readonly path: Path; readonly finding: Finding };

/** A report on one document, ordered by position when it is done. */
export function createReport(
  document: unknown,
  source: Source | undefined,
): Report & { finish(): ValidationResult } {
  const errors: Placed<ValidationError>[] = [];
  const warnings: Placed<Diagnostic>[] = [];
  const locate = (path: Path) => ({ path: formatPath(path), ...source?.positionOf(path) });
  const inOrder = <Finding>(placed: readonly Placed<Finding>[]): Finding[] =>
    placed
      .map(({ path, finding }) => ({ finding, rank: rankOf(document, path) }))
      .sort((left, right) => compareRanks(left.rank, right.rank))
      .map(({ finding }) => finding);
  return {
    error(rule, path, message) {
      errors.push({ path, finding: { rule, spec_ref: RULES[rule], message, ...locate(path) } });
    },
    warn(code, path, message) {
      warnings.push({ path, finding: { severity: "warning", code, message, ...locate(path) } });
    },
    budget: createExpressionBudget(),
    finish: () => ({ errors: inOrder(errors), warnings: inOrder(warnings) }),
  };
}

/** The position of a path among its siblings on each level; a missing field sorts after those present. */
function rankOf(document: unknown, path: Path): number[] {
  const rank: number[] = [];
  let at: unknown = document;
  for (const step of path) {
    if (Array.isArray(at) && typeof step === "number") {
      rank.push(step);
      at = at[step];
    } else if (isJsonObject(at) && Object.hasOwn(at, step)) {
      rank.push(Object.keys(at).indexOf(String(step)));
      at = at[step];
    } else {
      rank.push(Number.MAX_SAFE_INTEGER);
      at = undefined;
    }
  }
  return rank;
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < left.length && index < right.length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
