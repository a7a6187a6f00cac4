import type { Tier } from "../model/document.js";
import type { NormalizedAttack } from "../model/normalized.js";
import { TIERS } from "../model/vocabulary.js";
import type { EvaluationError } from "./evaluation-error.js";

/** The answer of one indicator. */
export type IndicatorResult = "matched" | "not_matched" | "error" | "skipped";

/** The verdict of one indicator on a trace. */
export type IndicatorVerdict = {
  readonly indicator_id: string;
  readonly result: IndicatorResult;
  readonly evidence?: string;
  readonly timestamp?: string;
  /** The evaluator; `accumulated` when only the joined text of a run matched. */
  readonly source?: string;
  /** The position of the match. */
  readonly match?: { readonly seq: number; readonly event: string; readonly path?: string };
  /** Messages, other than the document's own requests, on which there was something to look at. */
  readonly looked_at?: number;
  readonly error?: EvaluationError;
  /** Codes of warnings that belong to this answer. */
  readonly diagnostics?: readonly string[];
};

/** The outcome of the attack. */
export type AttackResult = "exploited" | "not_exploited" | "partial" | "error";

/** The combined result of all indicators. */
export type Verdict = {
  readonly attack_id?: string;
  readonly result: AttackResult;
  readonly max_tier?: Tier;
  readonly indicator_verdicts: readonly IndicatorVerdict[];
  readonly evaluation_summary: Readonly<Record<IndicatorResult, number>>;
  readonly timestamp: string;
  readonly source: string;
  /** The reason for the result `error`. */
  readonly diagnostic?: string;
};

/**
 * Joins the answers of the indicators of an attack. An indicator without an answer counts as skipped;
 * an attack without indicators has no verdict but `error`, so that it is never mistaken for a pass.
 * Severity, confidence and tier play no part.
 */
export function computeVerdict(
  attack: Pick<NormalizedAttack, "id" | "indicators" | "correlation">,
  verdicts: readonly IndicatorVerdict[],
  options: { readonly now?: () => number; readonly source?: string } = {},
): Verdict {
  const given = new Map<string, IndicatorVerdict[]>();
  for (const verdict of verdicts) {
    const same = given.get(verdict.indicator_id);
    if (same === undefined) given.set(verdict.indicator_id, [verdict]);
    else same.push(verdict);
  }
  const indicators = attack.indicators ?? [];
  const joined = indicators.map(
    ({ id }): IndicatorVerdict =>
      given.get(id)?.shift() ?? { indicator_id: id, result: "skipped", evidence: "not evaluated" },
  );
  const summary = { matched: 0, not_matched: 0, error: 0, skipped: 0 };
  for (const { result } of joined) summary[result] += 1;
  const { result, diagnostic } = combine(summary, joined.length, attack.correlation?.logic);
  const matchedTiers = indicators
    .filter((_, index) => joined[index]?.result === "matched")
    .map(({ tier }) => TIERS.findIndex((name) => name === tier));
  const tier = result === "not_exploited" ? undefined : TIERS[Math.max(-1, ...matchedTiers)];
  return {
    ...(attack.id === undefined ? {} : { attack_id: attack.id }),
    result,
    ...(tier === undefined ? {} : { max_tier: tier }),
    indicator_verdicts: joined,
    evaluation_summary: summary,
    timestamp: new Date((options.now ?? Date.now)()).toISOString(),
    source: options.source ?? "countersign",
    ...(diagnostic === undefined ? {} : { diagnostic }),
  };
}

function combine(
  summary: Readonly<Record<IndicatorResult, number>>,
  count: number,
  logic: string | undefined,
): { readonly result: AttackResult; readonly diagnostic?: string } {
  if (count === 0) return { result: "error", diagnostic: "the document has no indicators" };
  if (summary.skipped === count) {
    return { result: "error", diagnostic: "every indicator was skipped" };
  }
  if (summary.error > 0) {
    return { result: "error", diagnostic: `${summary.error} indicators could not be evaluated` };
  }
  if (summary.matched === 0) return { result: "not_exploited" };
  return { result: logic === "all" && summary.matched < count ? "partial" : "exploited" };
}
