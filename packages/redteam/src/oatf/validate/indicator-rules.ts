import { isJsonObject, ownMember } from "@countersign/core";
import { listMember, textMember } from "../json/values.js";
import { inspectCel } from "../cel/parse-source.js";
import { isKnownSurface, modernSurface } from "../model/events.js";
import { generatedId } from "../model/indicator-id.js";
import { extractProtocol, isProtocol, knownProtocols } from "../model/modes.js";
import { isSimplePath, isWildcardPath } from "../primitives/path.js";
import type { Path } from "../yaml/source.js";
import { checkName, checkRange, checkRegex, checkUnique } from "./checks.js";
import { OVER_BUDGET } from "./expression-budget.js";
import type { Report } from "./report.js";

/** The names that indicators may refer to. */
export type IndicatorContext = {
  readonly attackId: string | undefined;
  /** Whether there is an execution at all; without one nothing is said of protocols. */
  readonly hasExecution: boolean;
  /** The mode above all phases, which gives indicators their protocol. */
  readonly mode: string | undefined;
  readonly actors: ReadonlySet<string>;
  readonly protocols: ReadonlySet<string>;
};

const DETECTION = ["pattern", "expression", "semantic"] as const;
const VARIABLE = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

/** The indicators of an attack. */
export function checkIndicators(
  attack: unknown,
  path: Path,
  context: IndicatorContext,
  report: Report,
): void {
  if (ownMember(attack, "indicators") === undefined) return;
  const list = [...path, "indicators"];
  const indicators = listMember(attack, "indicators");
  if (indicators.length === 0) report.error("V-006", list, "must not be empty");
  const ids = indicators.map((indicator, index) => ({
    name: textMember(indicator, "id"),
    path: [...list, index, "id"],
  }));
  checkUnique(report, "V-010", ids);
  const explicit = new Set(ids.map(({ name }) => name));
  for (const [index, indicator] of indicators.entries()) {
    const at = [...list, index];
    checkIdentity(indicator, at, context, report);
    if (ids[index]?.name === undefined && explicit.has(generatedId(context.attackId, index))) {
      report.warn("CS-008", at, "its generated id equals the id of another indicator");
    }
    checkProtocol(indicator, at, context, report);
    checkDetection(indicator, at, report);
  }
}

function checkIdentity(
  indicator: unknown,
  path: Path,
  context: IndicatorContext,
  report: Report,
): void {
  const id = textMember(indicator, "id");
  const { attackId } = context;
  if (id !== undefined && attackId !== undefined) {
    const suffix = id.startsWith(`${attackId}-`) ? id.slice(attackId.length + 1) : "";
    if (!/^[0-9]{2,}$/.test(suffix)) {
      report.error("V-024", [...path, "id"], "must be the attack id, a dash and two digits");
    }
  }
  checkRange(report, "V-025", indicator, "confidence", path, [0, 100]);
  checkName(report, indicator, "severity", path, "severity");
  checkName(report, indicator, "direction", path, "direction");
  const actor = textMember(indicator, "actor");
  if (actor !== undefined && !context.actors.has(actor)) {
    report.error("V-048", [...path, "actor"], "there is no such actor");
  }
  if (ownMember(indicator, "tier") !== undefined) {
    checkName(report, indicator, "tier", path, "tier");
    report.warn("CS-001", [...path, "tier"], "is not a field of OATF 0.1; accepted and reported");
  }
}

function checkProtocol(
  indicator: unknown,
  path: Path,
  context: IndicatorContext,
  report: Report,
): void {
  const explicit = textMember(indicator, "protocol");
  const at = [...path, "protocol"];
  if (explicit === undefined && context.mode === undefined && context.hasExecution) {
    report.error("V-028", at, "is required, because the execution has no mode");
  }
  if (explicit !== undefined) {
    if (!isProtocol(explicit)) report.error("V-034", at, "must be a name in lower case");
    else if (!knownProtocols().has(explicit)) report.warn("W-003", at, "is not a known protocol");
    if (!context.protocols.has(explicit)) report.warn("W-005", at, "no actor speaks this protocol");
  }
  const protocol = explicit ?? extractProtocol(context.mode ?? "");
  const surface = textMember(indicator, "surface");
  if (surface === undefined || protocol === undefined) return;
  if (isKnownSurface(protocol, surface) === false) {
    report.warn("V-018", [...path, "surface"], `${protocol} has no such surface`);
    const modern = protocol === "ag_ui" ? modernSurface(surface) : undefined;
    if (modern !== undefined) {
      report.warn("CS-004", [...path, "surface"], `is an old name; today it is ${modern}`);
    }
  }
}

function checkDetection(indicator: unknown, path: Path, report: Report): void {
  checkTarget(indicator, path, report);
  const present = DETECTION.filter((key) => ownMember(indicator, key) !== undefined);
  if (present.length !== 1) {
    report.error("V-012", path, "needs exactly one of pattern, expression and semantic");
  }
  checkName(report, indicator, "method", path, "method");
  const method = textMember(indicator, "method");
  if (method !== undefined && present.length > 0 && !present.some((key) => key === method)) {
    report.error("V-049", [...path, "method"], `differs from what is there: ${present.join(", ")}`);
  }
  const pattern = ownMember(indicator, "pattern");
  checkTarget(pattern, [...path, "pattern"], report);
  checkRegex(report, pattern, "regex", [...path, "pattern"]);
  const condition = ownMember(pattern, "condition");
  checkRegex(report, condition, "regex", [...path, "pattern", "condition"]);
  checkExpression(indicator, path, report);
  const semantic = ownMember(indicator, "semantic");
  if (semantic !== undefined) {
    const at = [...path, "semantic"];
    checkTarget(semantic, at, report);
    checkRange(report, "V-022", semantic, "threshold", at, [0, 1]);
    checkName(report, semantic, "intent_class", at, "intentClass");
    report.warn("W-007", at, "needs a model; without one it is skipped");
  }
}

function checkTarget(holder: unknown, path: Path, report: Report): void {
  const target = textMember(holder, "target");
  if (target !== undefined && !isWildcardPath(target)) {
    report.error("V-021", [...path, "target"], "is not a path of the form a.b[*].c");
  }
}

function checkExpression(indicator: unknown, path: Path, report: Report): void {
  const expression = ownMember(indicator, "expression");
  if (!isJsonObject(expression)) return;
  const at = [...path, "expression"];
  const variables = ownMember(expression, "variables");
  const names = isJsonObject(variables) ? Object.keys(variables) : [];
  for (const name of names) {
    if (!VARIABLE.test(name)) {
      report.error("V-039", [...at, "variables", name], "is not a name in CEL");
    }
    const value = textMember(variables, name);
    if (value !== undefined && !isSimplePath(value)) {
      report.error("V-026", [...at, "variables", name], "is not a path of the form a.b.c");
    }
  }
  const source = textMember(expression, "cel");
  if (source === undefined) return;
  if (!report.budget.afford(source, "other")) {
    report.error("V-014", [...at, "cel"], OVER_BUDGET);
    return;
  }
  const { problem, patterns, unknownNames, usesHas } = inspectCel(source, names);
  if (problem !== undefined) report.error("V-014", [...at, "cel"], problem);
  for (const cel of patterns) checkRegex(report, { cel }, "cel", at);
  for (const name of unknownNames) {
    report.warn("CS-009", [...at, "cel"], `unknown variable or function ${name}`);
  }
  if (problem === undefined && !usesHas && ownMember(indicator, "surface") === undefined) {
    const advice = "fails on every event that lacks a field it reads: add surface or has()";
    report.warn("CS-003", [...at, "cel"], advice);
  }
}
