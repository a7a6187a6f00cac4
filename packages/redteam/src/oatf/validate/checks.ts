import { ownMember } from "@countersign/core";
import { textMember } from "../json/values.js";
import { compileRegex } from "../regex/compile.js";
import type { LinearRegex } from "../regex/compile.js";
import { OVER_BUDGET } from "./expression-budget.js";
import { CLOSED_LISTS } from "../model/vocabulary.js";
import type { ClosedList } from "../model/vocabulary.js";
import type { Path } from "../yaml/source.js";
import type { Report } from "./report.js";
import type { RuleCode } from "./rules.js";

/** V-005 for one field, when it is there. */
export function checkName(
  report: Report,
  holder: unknown,
  key: string,
  path: Path,
  list: ClosedList,
): void {
  const value = ownMember(holder, key);
  if (value !== undefined) checkListed(report, value, [...path, key], list);
}

/** V-005 for a value. */
export function checkListed(report: Report, value: unknown, path: Path, list: ClosedList): void {
  const allowed: ReadonlySet<string> = CLOSED_LISTS[list];
  if (typeof value !== "string" || !allowed.has(value)) {
    report.error("V-005", path, `must be one of ${[...allowed].join(", ")}`);
  }
}

/** A number outside a range breaks a rule. */
export function checkRange(
  report: Report,
  rule: RuleCode,
  holder: unknown,
  key: string,
  path: Path,
  range: readonly [low: number, high: number],
): void {
  const value = ownMember(holder, key);
  if (value === undefined) return;
  if (typeof value !== "number" || !(value >= range[0] && value <= range[1])) {
    report.error(rule, [...path, key], `must lie between ${range[0]} and ${range[1]}`);
  }
}

/** V-013 for a field that holds a pattern; the pattern when it is one. */
export function checkRegex(
  report: Report,
  holder: unknown,
  key: string,
  path: Path,
): LinearRegex | undefined {
  const source = textMember(holder, key);
  if (source === undefined) return undefined;
  const { regex, problem } = report.budget.afford(source, "regex")
    ? compileRegex(source)
    : { problem: OVER_BUDGET };
  if (problem !== undefined) report.error("V-013", [...path, key], problem);
  return regex;
}

/** Reports each value that was seen before. */
export function checkUnique(
  report: Report,
  rule: RuleCode,
  named: readonly { readonly name: string | undefined; readonly path: Path }[],
): void {
  const seen = new Set<string>();
  for (const { name, path } of named) {
    if (name === undefined) continue;
    if (seen.has(name)) report.error(rule, path, "is used before");
    seen.add(name);
  }
}
