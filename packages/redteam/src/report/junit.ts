import { writeJunitXml } from "@countersign/core/report";
import type { JunitCase } from "@countersign/core/report";
import { decisiveResult } from "./report.js";
import type { ReportEntry, SuiteReport } from "./report.js";

/** The report as JUnit XML: one test case per document, no text from the wire. */
export function writeJunit(report: SuiteReport): string {
  const { summary, entries } = report;
  const counts = {
    tests: entries.length,
    failures: summary.exploited + summary.partial,
    errors: summary.error,
    skipped: summary.unsupported,
    time: seconds(report.milliseconds),
  };
  return writeJunitXml({ name: "countersign redteam", ...counts }, [
    {
      attributes: { name: report.target, timestamp: report.startedAt, ...counts },
      cases: entries.map(testCase),
    },
  ]);
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function testCase(entry: ReportEntry): JunitCase {
  const result = decisiveResult(entry);
  const { outcome } = result;
  const attributes = {
    classname: `redteam.${entry.severity}`,
    name: `${entry.id} ${entry.title}`,
    time: seconds(result.milliseconds),
  };
  if (outcome === "not_exploited") return { attributes };
  const matched = result.indicators.filter((indicator) => indicator.result === "matched");
  const found = matched
    .map(({ indicator_id: id }) => `${id} ${entry.looksFor[id] ?? ""}`)
    .join("; ");
  const message = result.reason ?? found;
  if (outcome === "unsupported") {
    return { attributes, result: { element: "skipped", attributes: { message } } };
  }
  const element = outcome === "error" ? "error" : "failure";
  return { attributes, result: { element, attributes: { message, type: outcome } } };
}
