import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createDirectoryReader } from "../export/directory-reader.js";
import type { ExportOptions } from "../verify/export.js";
import { verifyExport } from "../verify/export.js";
import type { Verification } from "../verify/result.js";
import { loadFastVerifier } from "./ed25519.js";
import { createFileDuplicateFinder } from "./file-duplicates.js";
import { verifyBundlesOnThreads } from "./pool.js";

export { verifyTail } from "./verify-tail.js";
export { loadFastVerifier } from "./ed25519.js";
export { createFileDuplicateFinder } from "./file-duplicates.js";
export { verifyReceiptLines } from "./receipt-lines.js";
export { verifyRunStatement } from "./run-statement.js";
export type { RunLog, RunStatementOptions } from "./run-statement.js";
export { readExportEntries, readExportRoot } from "../verify/read-export.js";
export { conclude, failed, held, skipped } from "../verify/result.js";

/** Options of {@link verifyExportDirectory}. */
export type DirectoryOptions = Omit<ExportOptions, "verifyBundles" | "verifySignature"> & {
  /** Number of threads; default: all cores. 1 stays on the calling thread. */
  threads?: number;
  /** The compiled worker, if a bundler moved this module away from it. */
  workerScript?: URL;
};

/** Verifies an export in a directory on all cores. The result is that of `verifyExport`. */
export async function verifyExportDirectory(
  directory: string,
  options: DirectoryOptions = {},
): Promise<Verification> {
  if (options.duplicates === undefined) {
    const duplicates = createFileDuplicateFinder();
    try {
      return await verifyExportDirectory(directory, { ...options, duplicates });
    } finally {
      await duplicates.close();
    }
  }
  const { threads = availableParallelism(), workerScript, ...rest } = options;
  const path = resolve(directory);
  const reader = createDirectoryReader(path);
  const script = workerScript ?? new URL("./worker.js", import.meta.url);
  // Source runs have no compiled worker: then the calling thread verifies alone.
  const isMissing = workerScript === undefined && !existsSync(fileURLToPath(script));
  if (threads <= 1 || isMissing) {
    return verifyExport(reader, { ...rest, verifySignature: await loadFastVerifier() });
  }
  return verifyExport(reader, {
    ...rest,
    verifyBundles: (plan) => verifyBundlesOnThreads(script, path, plan, threads),
  });
}
export { verificationOfDamage, verifyStored } from "./stored.js";
