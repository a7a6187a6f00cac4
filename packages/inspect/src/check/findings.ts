import type { Layer, Severity } from "../rules/rule.js";
import { rulePage, RULES } from "../rules/table.js";
import type { RuleId, SeverityOverride } from "../rules/table.js";

/** The position of a violation. */
export type Place = {
  /** Counted from 1 over the events of the stream. */
  readonly eventNumber?: number;
  /** JSON pointer into the event. */
  readonly path?: string;
  /** The expected value, or the measured facts. Never a payload. */
  readonly detail?: string;
};

/** One broken rule and the places where it was broken. */
export type Finding = {
  readonly rule: RuleId;
  readonly layer: Layer;
  readonly severity: Severity;
  readonly title: string;
  /** The violation in one sentence. */
  readonly message: string;
  /** How to fix it. */
  readonly fix: string;
  /** @deprecated The same as `fix`, for programs that read the JSON report. */
  readonly mend: string;
  /** The rule's page, relative to the documentation. */
  readonly page: string;
  /** How often; only the first places are listed. */
  readonly count: number;
  readonly places: readonly Place[];
};

/** Collects findings: one entry per rule, however often it is broken. */
export type Findings = {
  report(rule: RuleId, place?: Place): void;
  /** Forgets a rule: what it said turned out to be the consequence of something else. */
  withdraw(rule: RuleId): void;
  has(rule: RuleId): boolean;
  /** By layer, then by weight, then in the order they were first seen. */
  list(): Finding[];
};

/** Places listed per rule: a stream of a million broken events stays a page. */
export const MAX_PLACES = 20;

const WEIGHT: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 };

/** Creates a collector; `overrides` replaces the severity of a rule or switches it off. */
export function createFindings(
  overrides: ReadonlyMap<RuleId, SeverityOverride> = new Map(),
): Findings {
  const found = new Map<RuleId, { count: number; places: Place[] }>();
  return {
    report(rule, place) {
      if (overrides.get(rule) === "off") return;
      let entry = found.get(rule);
      if (entry === undefined) found.set(rule, (entry = { count: 0, places: [] }));
      entry.count++;
      if (place !== undefined && entry.places.length < MAX_PLACES) entry.places.push(place);
    },
    withdraw: (rule) => void found.delete(rule),
    has: (rule) => found.has(rule),
    list: () =>
      [...found]
        .map(([rule, entry]): Finding => {
          const { layer, severity, title, what, fix } = RULES[rule];
          const own = overrides.get(rule);
          return {
            rule,
            layer,
            severity: own === undefined || own === "off" ? severity : own,
            title,
            message: what,
            fix,
            mend: fix,
            page: rulePage(rule),
            count: entry.count,
            places: entry.places,
          };
        })
        .sort((a, b) => a.layer - b.layer || WEIGHT[a.severity] - WEIGHT[b.severity]),
  };
}

/** Whether a finding is at least as heavy as a threshold. */
export function isAtLeast(finding: Finding, threshold: Severity): boolean {
  return WEIGHT[finding.severity] <= WEIGHT[threshold];
}
