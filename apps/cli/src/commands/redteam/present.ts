import {
  countBySeverity,
  decisiveResult,
  fixOf,
  groupEntries,
  VERDICTS,
  verdictWord,
  visible,
} from "@countersign/redteam";
import type { Comparison, ReportEntry, SuiteReport, TargetResult } from "@countersign/redteam";
import pc from "picocolors";
import { pageReference } from "../../output/pages.js";
import { printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";

function paint(word: string, width = 0): string {
  const padded = word.padEnd(width);
  if (word === "exploited") return pc.red(padded);
  if (word === "partial") return pc.yellow(padded);
  return word === "blocked" || word === "resisted" ? pc.green(padded) : pc.magenta(padded);
}

const WIDTH = "unsupported".length;
/** Room for the actor, phase or indicator that kept a document from being judged. */
const LONGEST_DETAILS = 400;

/** One line for one document. */
export function printEntry(entry: ReportEntry): void {
  const { direct, through } = entry;
  const words =
    through === undefined
      ? paint(verdictWord(direct), WIDTH)
      : `${paint(verdictWord(direct), WIDTH)} → ${paint(verdictWord(through), WIDTH)}`;
  const result = decisiveResult(entry);
  const details = [
    ...(result.reason === undefined ? [] : [result.reason]),
    ...describeObjections(result),
    ...(result.receipts.length === 0 ? [] : [`receipt ${result.receipts.join(", ")}`]),
    ...(result.distribution === undefined ? [] : [describe(result.distribution)]),
  ];
  const rest =
    details.length === 0
      ? ""
      : pc.dim(`  ${visible(details.join("; ")).slice(0, LONGEST_DETAILS)}`);
  const title = visible(entry.title).slice(0, 80);
  printLine(
    `${words}  ${visible(entry.id).padEnd(9)} ${entry.severity.padEnd(8)}  ${title}${rest}`,
  );
}

/** A refusal names a rule or a code; a gateway that only removes something names none. */
function describeObjections({ objections = [], outcome, stopped }: TargetResult): string[] {
  if (objections.length > 0) {
    const verb = outcome === "not_exploited" ? "by" : "in spite of";
    return [`${verb} ${objections.join(", ")}`];
  }
  return outcome === "not_exploited" && stopped ? ["left out without a word"] : [];
}

function describe(distribution: NonNullable<TargetResult["distribution"]>): string {
  return Object.entries(distribution)
    .map(([outcome, count]) => `${outcome} ${count}×`)
    .join(", ");
}

const WORDS = [...VERDICTS.keys()];
/** Findings that the summary lists; the HTML page and the JSON report have all of them. */
const MOST_LISTED = 20;

/** The end of a run, in the order of the page: verdicts by severity, open findings, undecided documents, rules. */
export function printSummary(report: SuiteReport): void {
  printLine("");
  const ways: [string, (entry: ReportEntry) => TargetResult | undefined][] =
    report.gateway === undefined
      ? [["severity", ({ direct }) => direct]]
      : [
          ["through the gateway", decisiveResult],
          ["direct", ({ direct }) => direct],
        ];
  for (const [title, pick] of ways) {
    const rows = countBySeverity(report.entries, pick).map(({ severity, counts }) => [
      severity,
      ...counts.map((count) => (count === 0 ? "·" : String(count))),
    ]);
    printLine(formatTable([title, ...WORDS], rows));
    printLine("");
  }
  const [open, undecided] = groupEntries(report.entries);
  printFindings(open?.entries ?? [], report.gateway !== undefined);
  printUndecided(undecided?.entries ?? []);
  if (report.gateway !== undefined) printClosing(report.entries);
  for (const remark of report.remarks) printLine(`${pc.yellow("note")} ${visible(remark)}`);
  const { entries, milliseconds, complete } = report;
  printLine(
    `${entries.length} documents in ${(milliseconds / 1000).toFixed(1)} s${complete ? "" : ", interrupted"}`,
  );
}

function titleOf(entry: ReportEntry): string {
  return `${visible(entry.id).padEnd(9)} ${entry.severity.padEnd(8)}  ${visible(entry.title).slice(0, 80)}`;
}

/** Open findings, the highest severity first, each with what closes it. */
function printFindings(entries: readonly ReportEntry[], hasGateway: boolean): void {
  if (entries.length === 0) return;
  printLine(pc.red(`open findings: ${entries.length}`));
  for (const entry of entries.slice(0, MOST_LISTED)) {
    printLine(`  ${titleOf(entry)}`);
    printLine(pc.dim(`    ${visible(fixOf(entry))}`));
  }
  const left = entries.length - MOST_LISTED;
  if (left > 0) printLine(`  ${left} more: --html FILE writes all of them`);
  if (hasGateway) {
    const page = pageReference("redteam/behind-the-gateway.md");
    printLine(pc.dim(`How to close them: ${page}. A policy in observe mode closes none.`));
  }
  printLine("");
}

function printUndecided(entries: readonly ReportEntry[]): void {
  if (entries.length === 0) return;
  printLine(pc.magenta(`not decided: ${entries.length}`));
  for (const entry of entries.slice(0, MOST_LISTED)) {
    printLine(`  ${titleOf(entry)}`);
    const reason = visible(decisiveResult(entry).reason ?? "").slice(0, LONGEST_DETAILS);
    printLine(pc.dim(`    ${reason}`));
  }
  const left = entries.length - MOST_LISTED;
  if (left > 0) printLine(`  ${left} more: --html FILE writes all of them`);
  printLine("");
}

/** Which rules closed the attacks that succeed without the gateway. */
function printClosing(entries: readonly ReportEntry[]): void {
  const exposed = entries.filter(({ direct }) => direct.outcome === "exploited");
  const closed = exposed.flatMap(({ through }) =>
    through?.outcome === "not_exploited" ? [through.objections?.[0] ?? "left out silently"] : [],
  );
  const counts = new Map<string, number>();
  for (const name of closed) counts.set(name, (counts.get(name) ?? 0) + 1);
  const rows = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, count]) => [visible(name), String(count)]);
  if (rows.length > 0) printLine(`${formatTable(["closed by", "documents"], rows)}\n`);
}

/** The changes since the baseline. */
export function printComparison(comparisons: readonly Comparison[]): void {
  const changed = comparisons.filter(({ change }) => change !== "same");
  printLine("");
  if (changed.length === 0) printLine("nothing changed since the baseline");
  for (const { id, change, before, now } of changed) {
    const word = change === "fixed" ? pc.green(change) : pc.red(change);
    printLine(`${word} ${visible(id)}: ${before ?? "new"} → ${now}`);
  }
}
