import { pageAddress } from "@countersign/core";
import { writeSarifLog } from "@countersign/core/report";
import type { DoctorReport } from "../doctor/report.js";
import { rulePage, RULES } from "../rules/table.js";

/** The report as SARIF 2.1.0, for code scanning services. */
export function toSarif(report: DoctorReport): string {
  const rules = report.findings.map(({ rule }) => ({
    id: rule,
    shortDescription: { text: RULES[rule].title },
    fullDescription: { text: RULES[rule].what },
    help: { text: RULES[rule].fix },
    helpUri: pageAddress(rulePage(rule)),
    properties: { layer: RULES[rule].layer },
  }));
  const results = report.findings.map((finding, ruleIndex) => ({
    ruleId: finding.rule,
    ruleIndex,
    level: finding.severity,
    message: { text: `${finding.message} Fix: ${finding.fix}` },
    occurrenceCount: finding.count,
    locations: (finding.places.length === 0 ? [{}] : finding.places).map((place) => ({
      physicalLocation: { artifactLocation: { uri: report.target } },
      logicalLocations: [
        {
          name: place.eventNumber === undefined ? "stream" : `event ${place.eventNumber}`,
          ...(place.path === undefined ? {} : { fullyQualifiedName: place.path }),
        },
      ],
      ...(place.detail === undefined ? {} : { message: { text: place.detail } }),
    })),
  }));
  return writeSarifLog({
    tool: { driver: { name: "countersign doctor", rules } },
    invocations: [{ executionSuccessful: true, startTimeUtc: report.startedAt }],
    results,
  });
}
