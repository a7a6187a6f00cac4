import { decisiveResult, visible } from "@countersign/redteam";
import type { Comparison, ReportEntry, SuiteReport, TargetResult } from "@countersign/redteam";
import pc from "picocolors";
import { pageReference } from "../../output/pages.js";
import { printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";

/** The label of a result on the terminal: a refusal is `blocked`. */
export function wordFor({ outcome, stopped }: TargetResult): string {
  if (outcome === "not_exploited") return stopped ? "blocked" : "resisted";
  return outcome;
}

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
      ? paint(wordFor(direct), WIDTH)
      : `${paint(wordFor(direct), WIDTH)} → ${paint(wordFor(through), WIDTH)}`;
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

const SEVERITIES = ["critical", "high", "medium", "low", "informational"];
const WORDS = ["exploited", "partial", "error", "unsupported", "blocked", "resisted"];

/** The table at the end: outcomes by severity, both ways when there is a gateway. */
export function printSummary(report: SuiteReport): void {
  printLine("");
  const ways: [string, (entry: ReportEntry) => TargetResult | undefined][] =
    report.gateway === undefined
      ? [["", ({ direct }) => direct]]
      : [
          ["direct", ({ direct }) => direct],
          ["through the gateway", ({ through }) => through],
        ];
  for (const [title, pick] of ways) {
    const rows = SEVERITIES.map((severity) => {
      const results = report.entries
        .filter((entry) => entry.severity === severity)
        .flatMap((entry) => pick(entry) ?? []);
      const counts = WORDS.map((word) => results.filter((one) => wordFor(one) === word).length);
      return [severity, ...counts.map((count) => (count === 0 ? "·" : String(count)))];
    }).filter((row) => row.slice(1).some((cell) => cell !== "·"));
    printLine(formatTable([title === "" ? "severity" : title, ...WORDS], rows));
    printLine("");
  }
  if (report.gateway !== undefined) printClosing(report.entries);
  for (const remark of report.remarks) printLine(`${pc.yellow("note")} ${visible(remark)}`);
  const { entries, milliseconds, complete } = report;
  printLine(
    `${entries.length} documents in ${(milliseconds / 1000).toFixed(1)} s${complete ? "" : ", interrupted"}`,
  );
}

/** Which rules closed what the bare agent is open to, and what still works. */
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
  const open = exposed.filter(({ through }) => through?.outcome === "exploited");
  if (open.length === 0) return;
  const ids = open.map(({ id }) => visible(id)).toSorted();
  printLine(`${pc.red("still open")} ${ids.join(", ")}`);
  printLine(
    `${pc.dim(`How to close them: ${pageReference("redteam/behind-the-gateway.md")}. A policy that observes closes none.`)}\n`,
  );
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
