export type { ExportReader } from "../verify/reader.js";
export { createDirectoryReader } from "./directory-reader.js";
export { writeExport } from "./write-export.js";
export type { ExportSource, RemovedSource, WriteExportOptions } from "./write-export.js";
export { proofPath } from "./write-proofs.js";
export { signRunStatement } from "./run-statement.js";
export { createStatementWriter, writeStatements } from "./write-statements.js";
export type {
  NumberedEntry,
  StatementSource,
  StatementWriter,
  WriteStatementsOptions,
} from "./write-statements.js";
export { createRunSummary } from "../dsse/run-summary.js";
export type { RunFacts, RunName } from "../dsse/run-summary.js";
