import type { IndicatorVerdict, Tier, TraceEntry } from "../oatf/index.js";
import type { RunnerNote } from "../runner/actor-context.js";
import type { ActorReport } from "../runner/phase-engine.js";
import type { Refusal } from "../runner/channel.js";
import type { Gap } from "../runner/gap.js";
import type { TransportKind } from "../runner/options.js";
import type { Outcome } from "../runner/run-document.js";

/** The name and version of the report format. */
export const REPORT_SCHEMA = "countersign.redteam-report.v1";

/** The result of one document against one target. */
export type TargetResult = {
  readonly outcome: Outcome;
  readonly reason?: string;
  /** The target, or a gateway before it, said no. */
  readonly stopped: boolean;
  /** The steps of the document that did not happen; absent in reports of earlier versions. */
  readonly gaps?: readonly Gap[];
  readonly tier?: Tier;
  readonly indicators: readonly IndicatorVerdict[];
  readonly receipts: readonly string[];
  /** Rules and codes that a refusal names; absent in reports of earlier versions. */
  readonly objections?: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly actors: readonly ActorReport[];
  readonly notes: readonly RunnerNote[];
  readonly transport?: TransportKind;
  readonly events: number;
  readonly truncated: boolean;
  readonly milliseconds: number;
  /** How often each outcome came, when the document ran more than once. The outcome above is the worst. */
  readonly distribution?: Readonly<Partial<Record<Outcome, number>>>;
  /**
   * The requests and responses. They hold secrets, so only the HTML page has them, or a report that asks for
   * them.
   */
  readonly trace?: readonly TraceEntry[];
};

/** One document of a suite. */
export type ReportEntry = {
  /** The file. */
  readonly name: string;
  readonly id: string;
  readonly title: string;
  readonly version: number;
  readonly description?: string;
  readonly severity: string;
  /** The category of the attack (OATF `classification.category`). */
  readonly category?: string;
  /** The fix that closes the attack (`x-countersign-fix` of the document). */
  readonly fix?: string;
  readonly tags: readonly string[];
  readonly mappings: readonly {
    readonly framework: string;
    readonly id: string;
    readonly name?: string;
  }[];
  /** The description of each indicator. */
  readonly looksFor: Readonly<Record<string, string>>;
  readonly direct: TargetResult;
  readonly through?: TargetResult;
};

/** A suite, finished or interrupted. */
export type SuiteReport = {
  readonly schema: typeof REPORT_SCHEMA;
  readonly source: string;
  readonly target: string;
  readonly gateway?: string;
  readonly startedAt: string;
  readonly milliseconds: number;
  /** Whether every document was run. */
  readonly complete: boolean;
  /** Why refusals do not count as resistance, when a target does not answer a greeting. */
  readonly remarks: readonly string[];
  readonly entries: readonly ReportEntry[];
  readonly summary: Readonly<Record<Outcome, number>>;
};

/** The result that counts: through the gateway when there is one. */
export function decisiveResult(entry: ReportEntry): TargetResult {
  return entry.through ?? entry.direct;
}

/** How often each outcome came. */
export function summarize(entries: readonly ReportEntry[]): Record<Outcome, number> {
  const summary = { exploited: 0, partial: 0, error: 0, unsupported: 0, not_exploited: 0 };
  for (const entry of entries) summary[decisiveResult(entry).outcome] += 1;
  return summary;
}

/** A report without what was said on the wire. */
export function withoutTraces(report: SuiteReport): SuiteReport {
  return { ...report, entries: report.entries.map(withoutTrace) };
}

/** An entry without what was said on the wire. */
export function withoutTrace(entry: ReportEntry): ReportEntry {
  const { trace: _direct, ...direct } = entry.direct;
  if (entry.through === undefined) return { ...entry, direct };
  const { trace: _through, ...through } = entry.through;
  return { ...entry, direct, through };
}
