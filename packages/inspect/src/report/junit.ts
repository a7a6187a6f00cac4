import type { DoctorReport } from "../doctor/report.js";
import type { Finding } from "../check/findings.js";

/** The report as JUnit XML: one suite per layer, one case per finding, one passing case where there is none. */
export function toJunit(report: DoctorReport, failing: readonly Finding[]): string {
  const failed = new Set(failing.map(({ rule }) => rule));
  const suites = report.layers.map(({ layer, name, status, reason }) => {
    const own = report.findings.filter((finding) => finding.layer === layer);
    const cases = own.map((finding) => caseOf(finding, failed.has(finding.rule), name));
    const skipped = status === "skipped" ? `<skipped message="${escape(reason ?? "")}"/>` : "";
    if (cases.length === 0)
      cases.push(
        `    <testcase classname="${escape(name)}" name="${escape(name)} works">${skipped}</testcase>`,
      );
    const failures = own.filter(({ rule }) => failed.has(rule)).length;
    return [
      `  <testsuite name="layer ${layer}: ${escape(name)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped === "" || own.length > 0 ? 0 : 1}">`,
      ...cases,
      "  </testsuite>",
    ].join("\n");
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escape(report.target)}" time="${report.durationMs / 1000}">\n${suites.join("\n")}\n</testsuites>\n`;
}

function caseOf(finding: Finding, fails: boolean, suite: string): string {
  const places = finding.places
    .map(({ eventNumber, path, detail }) =>
      [eventNumber === undefined ? "" : `event ${eventNumber}`, path ?? "", detail ?? ""]
        .filter((part) => part !== "")
        .join(" "),
    )
    .join("\n");
  const text = escape(`${finding.mend}\n${places}`);
  const body = fails
    ? `<failure type="${finding.severity}" message="${escape(finding.message)}">${text}</failure>`
    : `<system-out>${finding.severity}: ${escape(finding.message)} ${text}</system-out>`;
  return `    <testcase classname="${escape(suite)}" name="${escape(finding.rule)}">${body}</testcase>`;
}

/** XML 1.0 has no form at all for most control characters; they become the replacement character. */
function escape(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
