export { librarySources, loadSources } from "./library/library.js";
export type { DocumentProblem, DocumentSource, LoadedDocument } from "./library/library.js";
export { compareWithBaseline, isRegression } from "./report/baseline.js";
export type { Change, Comparison } from "./report/baseline.js";
export { writeHtml } from "./report/html.js";
export type { HtmlOptions } from "./report/html.js";
export { writeJunit } from "./report/junit.js";
export { writeMarkdown } from "./report/markdown.js";
export {
  countBySeverity,
  fixOf,
  groupEntries,
  SEVERITIES,
  VERDICTS,
  verdictWord,
} from "./report/order.js";
export type { EntryGroup, SummaryRow, VerdictWord } from "./report/order.js";
export { decisiveResult, REPORT_SCHEMA, withoutTrace, withoutTraces } from "./report/report.js";
export type { ReportEntry, SuiteReport, TargetResult } from "./report/report.js";
export { writeSarif } from "./report/sarif.js";
export { readReportEntry, runSuite } from "./report/suite.js";
export type { SuiteOptions } from "./report/suite.js";
export { visible } from "@countersign/core/report";
export type { RunnerNote } from "./runner/actor-context.js";
export type { ActorReport } from "./runner/phase-engine.js";
export type { Refusal } from "./runner/channel.js";
export type { Gap } from "./runner/gap.js";
export { DEFAULT_RUNNER_LIMITS, DEFAULT_TIMEOUTS } from "./runner/options.js";
export type {
  RunnerLimits,
  RunnerOptions,
  RunnerTimeouts,
  ServerAddresses,
  ServerOptions,
  TransportKind,
} from "./runner/options.js";
export { executeDocument } from "./runner/execute-document.js";
export type { ExecutionResult } from "./runner/execute-document.js";
export { probeTarget } from "./runner/probe.js";
export type { ProbeResult } from "./runner/probe.js";
export { runDocument } from "./runner/run-document.js";
export type { DocumentResult, Outcome } from "./runner/run-document.js";
