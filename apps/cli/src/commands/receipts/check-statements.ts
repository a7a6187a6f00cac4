import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { parseCheckpoint, parseNote } from "@countersign/receipts";
import { createDirectoryReader } from "@countersign/receipts/export";
import type { Verification } from "@countersign/receipts/verify";
import {
  conclude,
  loadFastVerifier,
  readExportEntries,
  readExportRoot,
  verifyRunStatement,
} from "@countersign/receipts/verify-node";
import type { RunLog } from "@countersign/receipts/verify-node";
import { verifyStatement, verifyStatements } from "@countersign/receipts/verify-statements";
import type { StatementsOptions } from "@countersign/receipts/verify-statements";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import { createProgress } from "../../output/progress.js";
import "../errors.js";
import type { Trust } from "./trust.js";

/** The first byte of a tagged COSE_Sign1. */
const COSE_SIGN1_TAG = 0xd2;
const BUNDLE = 256;

/** Whether a file is a COSE_Sign1, such as a transparent statement. */
export function isStatement(bytes: Uint8Array): boolean {
  return bytes[0] === COSE_SIGN1_TAG;
}

/** Whether a directory is an export of statements. */
export function isStatementExport(directory: string): boolean {
  const has = (name: string): boolean => pathExists(join(directory, name));
  return (has("manifest.scitt") || has("statements")) && !has("tile");
}

/** Verifies one transparent statement with the keys that the verifier named. */
export function checkStatement(bytes: Uint8Array, trust: Trust): Promise<Verification> {
  const missing = [
    ...(trust.trustedLogs === undefined ? ["--log-key"] : []),
    ...(trust.trustedKeys === undefined ? ["--key"] : []),
  ];
  if (missing.length === 0) return verifyStatement(bytes, trust);
  throw new CountersignError(
    "ERR_CLI_NO_LOG_KEY",
    `a statement can be verified only with the keys that signed it. Fix: add ${missing.join(" and ")}`,
    {},
  );
}

/** Verifies an export of statements. */
export async function checkStatements(
  directory: string,
  trust: Trust,
  more: Pick<StatementsOptions, "onEntry"> = {},
): Promise<Verification> {
  let progress: ReturnType<typeof createProgress> | undefined;
  try {
    return await verifyStatements(createDirectoryReader(directory), {
      ...trust,
      ...more,
      verifySignature: await loadFastVerifier(),
      onProgress: (done, total) => {
        progress ??= createProgress("verifying", total);
        progress.update(done);
      },
    });
  } finally {
    progress?.finish();
  }
}

/** Verifies the statement about a run by itself. */
export function checkRun(text: string, trust: Trust): Promise<Verification> {
  if (trust.trustedLogs === undefined) {
    throw new CountersignError(
      "ERR_CLI_NO_LOG_KEY",
      "a statement about a run can be verified only with the key of the log. Fix: add --log-key, or name an export with --against",
      {},
    );
  }
  return verifyRunStatement(text, { trustedLogs: trust.trustedLogs });
}

/** Verifies the statement about a run against statements, which are verified first. */
export async function checkRunInStatements(
  text: string,
  directory: string,
  trust: Trust,
): Promise<Verification> {
  // Bytes of verified statements: about those of one run.
  const entries: Uint8Array[] = [];
  const verified = await checkStatements(directory, trust, {
    onEntry: (bytes) => void entries.push(bytes),
  });
  if (!verified.valid) return verified;
  const { origin, size, root } = readCheckpoint(directory);
  return continueWith(verified, text, directory, trust, {
    origin,
    size,
    first: 0,
    root: async (older) => (older === size ? root : undefined),
    entries: () => entries,
  });
}

/** Verifies the statement about a run against an export of the log that was verified. */
export async function checkRunInExport(
  text: string,
  directory: string,
  trust: Trust,
  verified: Verification,
): Promise<Verification> {
  if (!verified.valid) return verified;
  const reader = createDirectoryReader(directory);
  const { origin, size } = readCheckpoint(directory);
  const first = firstEntry(directory);
  return continueWith(verified, text, directory, trust, {
    origin,
    size,
    first,
    root: (older) => readExportRoot(reader, older, size),
    entries: () => readExportEntries(reader, first / BUNDLE, size),
  });
}

async function continueWith(
  verified: Verification,
  text: string,
  directory: string,
  trust: Trust,
  log: RunLog,
): Promise<Verification> {
  const run = await verifyRunStatement(text, {
    ...(trust.trustedLogs && { trustedLogs: trust.trustedLogs }),
    presentedLog: readText(join(directory, KEY_FILES.vkey)),
    log,
  });
  const known = new Set(verified.signers.map(({ key }) => key));
  const signers = run.signers.filter(({ key }) => !known.has(key));
  return conclude([...verified.checks, ...run.checks], [...verified.signers, ...signers]);
}

function readCheckpoint(directory: string): ReturnType<typeof parseCheckpoint> {
  return parseCheckpoint(parseNote(readText(join(directory, "checkpoint"))).text);
}

/** The first entry that a verified export has: earlier ones were removed because of their age. */
function firstEntry(directory: string): number {
  const file = join(directory, "removed.json");
  if (!pathExists(file)) return 0;
  return (JSON.parse(readText(file)) as { first: number }).first;
}
