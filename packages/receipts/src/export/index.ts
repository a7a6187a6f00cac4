export type { ExportReader } from "../verify/reader.js";
export { createDirectoryReader } from "./directory-reader.js";
export { writeExport } from "./write-export.js";
export type { ExportSource, RemovedSource, WriteExportOptions } from "./write-export.js";
export { proofPath } from "./write-proofs.js";
