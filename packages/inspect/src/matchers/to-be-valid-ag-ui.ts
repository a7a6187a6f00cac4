import type { JsonValue } from "@countersign/core";
import { createFindings, isAtLeast } from "../check/findings.js";
import type { Finding } from "../check/findings.js";
import { createStreamCheck } from "../check/stream-check.js";
import type { Severity } from "../rules/rule.js";
import { isRuleId } from "../rules/table.js";
import type { RuleId, SeverityOverride } from "../rules/table.js";

/** Options of the matcher. */
export type ValidAgUiOptions = {
  /** The lightest finding that fails; errors by default. */
  readonly failOn?: Severity;
  /** Another severity for a rule, or `off`. */
  readonly severities?: Readonly<Record<string, SeverityOverride>>;
};

/** The result of a matcher, for Vitest and Jest. */
export type MatcherResult = { pass: boolean; message: () => string };

const SHOWN = 10;

/**
 * `expect(events).toBeValidAgUi()`: whether events, in the order given, are a stream that AG-UI 1.0
 * clients accept. Events are objects or their JSON texts.
 */
export function toBeValidAgUi(received: unknown, options: ValidAgUiOptions = {}): MatcherResult {
  if (!isIterable(received)) {
    return { pass: false, message: () => "toBeValidAgUi expects an array of AG-UI events" };
  }
  const findings = createFindings(overrides(options.severities));
  const check = createStreamCheck({ findings });
  for (const event of received) {
    const text = typeof event === "string" ? event : (JSON.stringify(event) ?? "undefined");
    check.text(text);
  }
  check.end();
  const failed = findings.list().filter((finding) => isAtLeast(finding, options.failOn ?? "error"));
  return {
    pass: failed.length === 0,
    message: () =>
      failed.length === 0
        ? "expected the events not to be a valid AG-UI stream"
        : `expected a valid AG-UI stream\n${failed.slice(0, SHOWN).map(describe).join("\n")}`,
  };
}

function describe(finding: Finding): string {
  const [place] = finding.places;
  const where = place?.eventNumber === undefined ? "" : ` at event ${place.eventNumber}`;
  const path = place?.path === undefined || place.path === "" ? "" : ` ${place.path}`;
  return `  ${finding.severity} ${finding.rule}${where}${path}: ${finding.message} Fix: ${finding.fix}`;
}

function overrides(severities: ValidAgUiOptions["severities"] = {}): Map<RuleId, SeverityOverride> {
  const map = new Map<RuleId, SeverityOverride>();
  for (const [rule, severity] of Object.entries(severities)) {
    if (!isRuleId(rule)) throw new TypeError(`unknown rule ${rule}`);
    map.set(rule, severity);
  }
  return map;
}

function isIterable(value: unknown): value is Iterable<JsonValue> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
