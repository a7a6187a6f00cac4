import type { JsonObject } from "@countersign/core";
import { writeSarifLog } from "@countersign/core/report";
import { decisiveResult } from "./report.js";
import type { ReportEntry, SuiteReport } from "./report.js";

const LEVELS: ReadonlyMap<string, string> = new Map([
  ["critical", "error"],
  ["high", "error"],
  ["medium", "warning"],
]);

/** Scores that code scanning turns into its own severities. */
const SCORES: ReadonlyMap<string, string> = new Map([
  ["critical", "9.5"],
  ["high", "8.0"],
  ["medium", "5.5"],
  ["low", "3.0"],
]);

/** The report as SARIF 2.1.0: a rule per document, a result for each that got through. */
export function writeSarif(report: SuiteReport): string {
  const found = report.entries.filter((entry) =>
    ["exploited", "partial"].includes(decisiveResult(entry).outcome),
  );
  const driver = {
    name: "countersign redteam",
    version: report.source.split("/")[1] ?? "0",
    rules: report.entries.map(ruleOf),
  };
  const notifications = report.entries
    .filter((entry) => ["error", "unsupported"].includes(decisiveResult(entry).outcome))
    .map((entry) => {
      const { outcome, reason } = decisiveResult(entry);
      return {
        level: "error",
        descriptor: { id: outcome },
        associatedRule: { id: entry.id, index: report.entries.indexOf(entry) },
        message: { text: `${entry.id}: ${reason ?? outcome}` },
      };
    });
  return writeSarifLog({
    tool: { driver },
    invocations: [
      {
        executionSuccessful: report.complete && notifications.length === 0,
        toolExecutionNotifications: notifications,
      },
    ],
    results: found.map((entry) => resultOf(entry, report)),
  });
}

function ruleOf(entry: ReportEntry): JsonObject {
  const catalogues = entry.mappings.map(({ id, name }) =>
    name === undefined ? id : `${id} ${name}`,
  );
  return {
    id: entry.id,
    name: entry.title,
    shortDescription: { text: entry.title },
    fullDescription: { text: entry.description ?? entry.title },
    help: { text: `${entry.description ?? entry.title}\n\n${catalogues.join("\n")}` },
    defaultConfiguration: { level: LEVELS.get(entry.severity) ?? "note" },
    properties: {
      tags: ["security", ...entry.tags, ...entry.mappings.map(({ id }) => id)],
      "security-severity": SCORES.get(entry.severity) ?? "0.0",
    },
  };
}

function resultOf(entry: ReportEntry, report: SuiteReport): JsonObject {
  const result = decisiveResult(entry);
  const matched = result.indicators.find((indicator) => indicator.result === "matched");
  const id = matched?.indicator_id ?? entry.id;
  const looked = entry.looksFor[id] ?? "";
  return {
    ruleId: entry.id,
    ruleIndex: report.entries.indexOf(entry),
    level: LEVELS.get(entry.severity) ?? "note",
    message: { text: `${entry.title}: ${looked === "" ? result.outcome : looked}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(entry.name) } } }],
    partialFingerprints: { "attackIndicator/v1": `${entry.id}/${id}` },
    properties: {
      outcome: result.outcome,
      ...(result.tier === undefined ? {} : { tier: result.tier }),
      ...(matched?.match === undefined ? {} : { eventIndex: matched.match.seq }),
      ...(result.receipts.length === 0 ? {} : { receipts: [...result.receipts] }),
    },
  };
}
