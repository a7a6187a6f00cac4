import { decisiveResult } from "./report.js";
import type { ReportEntry, TargetResult } from "./report.js";

/** The word for a result in reports: a rejection is `blocked`, any other miss `resisted`. */
export type VerdictWord =
  | "exploited"
  | "partial"
  | "error"
  | "unsupported"
  | "blocked"
  | "resisted";

/** The verdicts and their meaning, in the order of reports. */
export const VERDICTS: ReadonlyMap<VerdictWord, string> = new Map([
  ["exploited", "The attack succeeded: an indicator matched."],
  ["partial", "Some of the indicators matched, and the document requires all of them."],
  [
    "error",
    "The run decides nothing: a payload was not delivered or not answered, a stream is incomplete, or an indicator had nothing to evaluate.",
  ],
  ["unsupported", "The document needs something that the runner does not support."],
  [
    "blocked",
    "The attack failed: the target or the gateway rejected it, or the gateway withheld the result.",
  ],
  [
    "resisted",
    "The attack failed: every payload was delivered, the agent answered, and no indicator matched.",
  ],
]);

/** Severities, highest first. */
export const SEVERITIES: readonly string[] = ["critical", "high", "medium", "low", "informational"];

/** The word for a result. */
export function verdictWord({ outcome, stopped }: TargetResult): VerdictWord {
  if (outcome === "not_exploited") return stopped ? "blocked" : "resisted";
  return outcome;
}

/** One group of entries in a report. */
export type EntryGroup = { readonly title: string; readonly entries: readonly ReportEntry[] };

const GROUPS: readonly (readonly [title: string, words: ReadonlySet<VerdictWord>])[] = [
  ["Open findings", new Set(["exploited", "partial"])],
  ["Not decided", new Set(["error", "unsupported"])],
  ["Closed", new Set(["blocked", "resisted"])],
];

/** The entries as reports list them: open findings first, in each group the highest severity first. */
export function groupEntries(entries: readonly ReportEntry[]): EntryGroup[] {
  const words = [...VERDICTS.keys()];
  const rank = (entry: ReportEntry): number => {
    const severity = SEVERITIES.indexOf(entry.severity);
    const place = severity === -1 ? SEVERITIES.length : severity;
    return place * words.length + words.indexOf(verdictWord(decisiveResult(entry)));
  };
  return GROUPS.map(([title, members]) => ({
    title,
    entries: entries
      .filter((entry) => members.has(verdictWord(decisiveResult(entry))))
      .toSorted((one, other) => rank(one) - rank(other)),
  }));
}

/** One row of the summary: a severity and how often each verdict came. */
export type SummaryRow = { readonly severity: string; readonly counts: readonly number[] };

/** Verdicts by severity, in the order of {@link VERDICTS}; severities without a document are left out. */
export function countBySeverity(
  entries: readonly ReportEntry[],
  pick: (entry: ReportEntry) => TargetResult | undefined,
): SummaryRow[] {
  const names = new Set([...SEVERITIES, ...entries.map(({ severity }) => severity)]);
  return [...names].flatMap((severity) => {
    const results = entries
      .filter((entry) => entry.severity === severity)
      .flatMap((entry) => pick(entry) ?? []);
    if (results.length === 0) return [];
    const counts = [...VERDICTS.keys()].map(
      (word) => results.filter((result) => verdictWord(result) === word).length,
    );
    return [{ severity, counts }];
  });
}

/** Fixes for documents that name none, by the category of the attack. */
const FIXES: ReadonlyMap<string, string> = new Map([
  [
    "capability_poisoning",
    "Gateway: `ag_ui_request.tools.pinned` accepts only known tools of a client, and `ag_ui_tools.call` lists the tools that the agent may call. Agent: treat descriptions of tools as data.",
  ],
  [
    "response_fabrication",
    "Gateway: `ag_ui_request.history` and `tool_results` reject messages and results that the gateway never forwarded. Agent: treat results of tools as data.",
  ],
  [
    "context_manipulation",
    "Gateway: `ag_ui_request` limits history, state, context and forwardedProps of a request. Agent: treat them as data, never as instructions.",
  ],
  [
    "oversight_bypass",
    "Gateway: `ag_ui_request.resume` and `approval` compare answers and calls with the question that the user saw. Agent: keep a record of its open interrupts.",
  ],
  [
    "temporal_manipulation",
    "Gateway: `ag_ui_request.runs` and `resume` reject used and expired ids. Agent: check times and order on the server.",
  ],
  [
    "availability_disruption",
    "Gateway: `ag_ui_content.max_characters`, `ag_ui.max_events_per_second` and `velocity` limit output. Agent: limit the length and number of its answers.",
  ],
  [
    "cross_protocol_chain",
    "Gateway: `ag_ui_content` and `ag_ui_tools` limit the output, whatever its source. Agent: treat texts of tools and other agents as data.",
  ],
]);

const ANY_FIX =
  "Gateway: write a rule for the event that matched; `countersign policy explain` shows the decision for it. Agent: treat every text of a client as data.";

/** The fix for the attack of an entry: from its document, otherwise a hint by its category. */
export function fixOf({ fix, category }: ReportEntry): string {
  return fix ?? FIXES.get(category ?? "") ?? ANY_FIX;
}
