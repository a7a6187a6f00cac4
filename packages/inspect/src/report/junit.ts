import { writeJunitXml } from "@countersign/core/report";
import type { JunitCase } from "@countersign/core/report";
import type { DoctorReport } from "../doctor/report.js";
import type { Finding } from "../check/findings.js";

/** The report as JUnit XML: one suite per layer, one case per finding, one passing case where there is none. */
export function toJunit(report: DoctorReport, failing: readonly Finding[]): string {
  const failed = new Set(failing.map(({ rule }) => rule));
  const suites = report.layers.map(({ layer, name, status, reason }) => {
    const own = report.findings.filter((finding) => finding.layer === layer);
    const isSkipped = own.length === 0 && status === "skipped";
    const works: JunitCase = {
      attributes: { classname: name, name: `${name} works` },
      ...(isSkipped
        ? { result: { element: "skipped", attributes: { message: reason ?? "" } } }
        : {}),
    };
    const cases = own.map((finding) => caseOf(finding, failed.has(finding.rule), name));
    return {
      attributes: {
        name: `layer ${layer}: ${name}`,
        tests: Math.max(1, cases.length),
        failures: own.filter(({ rule }) => failed.has(rule)).length,
        errors: 0,
        skipped: isSkipped ? 1 : 0,
      },
      cases: cases.length === 0 ? [works] : cases,
    };
  });
  return writeJunitXml({ name: report.target, time: report.durationMs / 1000 }, suites);
}

function caseOf(finding: Finding, fails: boolean, suite: string): JunitCase {
  const { rule, severity, message, fix } = finding;
  const places = finding.places
    .map(({ eventNumber, path, detail }) =>
      [eventNumber === undefined ? "" : `event ${eventNumber}`, path ?? "", detail ?? ""]
        .filter((part) => part !== "")
        .join(" "),
    )
    .join("\n");
  const text = `Fix: ${fix}\n${places}`;
  return {
    attributes: { classname: suite, name: rule },
    result: fails
      ? { element: "failure", attributes: { type: severity, message }, text }
      : { element: "system-out", text: `${severity}: ${message} ${text}` },
  };
}
