import { decisiveResult } from "./report.js";
import type { ReportEntry, SuiteReport } from "./report.js";
import { escapeMarkup } from "./visible.js";

/** The report as JUnit XML: one test case per document, no text from the wire. */
export function writeJunit(report: SuiteReport): string {
  const { summary, entries } = report;
  const counts = [
    `tests="${entries.length}"`,
    `failures="${summary.exploited + summary.partial}"`,
    `errors="${summary.error}"`,
    `skipped="${summary.unsupported}"`,
    `time="${seconds(report.milliseconds)}"`,
  ].join(" ");
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="countersign redteam" ${counts}>`,
    `  <testsuite name="${escapeMarkup(report.target)}" timestamp="${report.startedAt}" ${counts}>`,
    ...entries.map(testCase),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function testCase(entry: ReportEntry): string {
  const result = decisiveResult(entry);
  const name = escapeMarkup(`${entry.id} ${entry.title}`);
  const open = `    <testcase classname="redteam.${escapeMarkup(entry.severity)}" name="${name}" time="${seconds(result.milliseconds)}"`;
  if (result.outcome === "not_exploited") return `${open}/>`;
  const matched = result.indicators.filter((indicator) => indicator.result === "matched");
  const said = matched
    .map(({ indicator_id: id }) => `${id} ${entry.looksFor[id] ?? ""}`)
    .join("; ");
  const message = escapeMarkup(result.reason ?? said);
  const element =
    result.outcome === "unsupported"
      ? `<skipped message="${message}"/>`
      : result.outcome === "error"
        ? `<error message="${message}" type="error"/>`
        : `<failure message="${message}" type="${result.outcome}"/>`;
  return `${open}>${element}</testcase>`;
}
