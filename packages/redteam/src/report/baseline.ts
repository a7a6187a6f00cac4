import { CountersignError, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { listMember, textMember } from "../oatf/json/values.js";
import { decisiveResult, REPORT_SCHEMA } from "./report.js";
import type { SuiteReport } from "./report.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A file that was to be an earlier report is none. */
    ERR_REDTEAM_REPORT: { expected: string };
  }
}

/** How a document stands against an earlier report. */
export type Change = "new" | "worse" | "fixed" | "same" | "indeterminate";

/** One document compared. */
export type Comparison = {
  readonly id: string;
  readonly change: Change;
  readonly before?: string;
  readonly now: string;
};

type Standing = {
  readonly name?: string | undefined;
  readonly outcome: string;
  readonly tier: string | undefined;
};

const GRAVITY = ["not_exploited", "partial", "exploited"];
const TIERS = ["ingested", "local_action", "boundary_breach"];

function gravityOf({ outcome, tier }: Standing): number {
  const gravity = GRAVITY.indexOf(outcome);
  return gravity <= 0 ? gravity : gravity * TIERS.length + TIERS.indexOf(tier ?? "");
}

/**
 * Compares a report with an earlier one, by attack id and version, and by name where several documents share both. Only
 * `new` and `worse` are regressions. A document that the earlier run did not decide is new when it succeeds; otherwise an
 * error on either side leaves nothing to compare.
 *
 * @throws CountersignError ERR_REDTEAM_REPORT when the earlier report is none
 */
export function compareWithBaseline(report: SuiteReport, baseline: JsonValue): Comparison[] {
  const before = readStandings(baseline);
  return report.entries.map((entry): Comparison => {
    const { outcome, tier } = decisiveResult(entry);
    const { id, name } = entry;
    const earlier = findStanding(before.get(`${id}@${entry.version}`) ?? [], name);
    const now = gravityOf({ outcome, tier });
    if (now < 0) return { id, change: "indeterminate", now: outcome };
    if (earlier === undefined) return { id, change: now > 0 ? "new" : "same", now: outcome };
    const then = gravityOf(earlier);
    const both = { id, before: earlier.outcome, now: outcome };
    if (then < 0) return { ...both, change: now > 0 ? "new" : "indeterminate" };
    if (now === then) return { ...both, change: "same" };
    return { ...both, change: now > then ? "worse" : "fixed" };
  });
}

/** The standing of the document of a name, otherwise the least grave, which hides no regression. */
function findStanding(standings: readonly Standing[], name: string): Standing | undefined {
  return (
    standings.find((standing) => standing.name === name) ??
    standings.toSorted((one, other) => gravityOf(one) - gravityOf(other))[0]
  );
}

/** Whether a comparison should fail a build. */
export function isRegression({ change }: Comparison): boolean {
  return change === "new" || change === "worse";
}

function readStandings(baseline: JsonValue): Map<string, Standing[]> {
  if (textMember(baseline, "schema") !== REPORT_SCHEMA) {
    throw new CountersignError("ERR_REDTEAM_REPORT", `not a ${REPORT_SCHEMA} document`, {
      expected: REPORT_SCHEMA,
    });
  }
  const standings = new Map<string, Standing[]>();
  for (const entry of listMember(baseline, "entries")) {
    const result = ownMember(entry, "through") ?? ownMember(entry, "direct");
    const version = ownMember(entry, "version");
    const key = `${textMember(entry, "id") ?? ""}@${typeof version === "number" ? version : 1}`;
    const outcome = textMember(result, "outcome") ?? "error";
    const name = textMember(entry, "name");
    const same = standings.get(key) ?? [];
    standings.set(key, [...same, { name, outcome, tier: textMember(result, "tier") }]);
  }
  return standings;
}
