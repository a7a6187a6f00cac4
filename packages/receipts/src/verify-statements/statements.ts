import { encodeHex, equalBytes } from "@countersign/core";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { decodeKeySet } from "../cose/cose-key.js";
import type { Manifest } from "../cose/manifest.js";
import { decodeManifest, MANIFEST_CONTENT_TYPE, MAX_MANIFEST_BYTES } from "../cose/manifest.js";
import { treeSubject } from "../cose/receipt.js";
import { decodeStatement, MAX_STATEMENT_BYTES } from "../cose/statement.js";
import type { KeyRecord } from "../keys/history.js";
import { parseKeyText } from "../keys/key-text.js";
import { keyPeriods, trustedThroughHistory } from "../keys/verify-history.js";
import { MAX_NOTE_BYTES } from "../note/note.js";
import { parseVkey } from "../note/vkey.js";
import type { CheckpointOptions } from "../verify/checkpoint.js";
import { checkCheckpoint } from "../verify/checkpoint.js";
import { checkKeys, readText } from "../verify/key-history.js";
import type { ExportReader } from "../verify/reader.js";
import { EXPORT_FILES, statementPath } from "../verify/reader.js";
import { normalKey } from "../verify/receipt.js";
import type { Check, CheckId, SignerTrust, Verification } from "../verify/result.js";
import { conclude, failed, failedBy, held, skipped } from "../verify/result.js";
import type { StatementVerifier } from "./statement.js";
import { createStatementVerifier, distinct } from "./statement.js";
import type { Tallies } from "../verify/tally.js";
import { countFailed, countHeld, tallyCheck } from "../verify/tally.js";

/** Options of {@link verifyStatements}. */
export type StatementsOptions = CheckpointOptions & {
  /** Receipt keys the verifier trusts; keys that they rotated to are trusted with them. */
  trustedKeys?: readonly string[];
  /** Called about every hundred statements with the number of statements verified so far. */
  onProgress?: (done: number, total: number) => void;
  /** Called with the bytes of each entry whose statement could be read, in order. */
  onEntry?: (entry: Uint8Array) => void;
};

const PROGRESS = 100;
/** Missing files in a row before the rest counts as missing too: the author chooses the list. */
const MAX_MISSING = 1000;

const TALLIED: readonly CheckId[] = [
  "statements-complete",
  "statement-format",
  "statement-signature",
  "statement-key",
  "cose-receipt",
  "inclusion",
  "statement-claims",
  "entry-format",
  "entry-sequence",
  "entry-key",
  "receipt-format",
  "receipt-signature",
  "deny-signed-singly",
];

/** Verifies an export of statements: keys, checkpoint, manifest, and every statement that it lists. */
export async function verifyStatements(
  reader: ExportReader,
  options: StatementsOptions = {},
): Promise<Verification> {
  const note = await readText(reader, EXPORT_FILES.checkpoint, MAX_NOTE_BYTES);
  if (note === undefined) {
    return conclude([failed("checkpoint-format", "the checkpoint is missing or not text")], []);
  }
  const vkey = options.presentedKey ?? (await readText(reader, EXPORT_FILES.vkey, 4096));
  const log = await checkCheckpoint(note, {
    ...options,
    ...(vkey !== undefined && { presentedKey: vkey }),
  });
  const keys = await checkKeys(reader, options);
  const checks = [...log.checks, keys.check];
  const { checkpoint } = log;
  const { records } = keys;
  if (checkpoint === undefined || records === undefined || vkey === undefined) {
    return conclude(checks, log.signers);
  }
  checks.push(await checkKeySet(reader, vkey, records));
  const anchors = options.trustedKeys?.map(normalKey);
  const verifier = createStatementVerifier({
    presentedKeys: records.map(({ key }) => key),
    presentedLog: vkey,
    periods: keyPeriods(records),
    ...(anchors && { trustedKeys: [...trustedThroughHistory(records, new Set(anchors))] }),
    ...(options.trustedLogs && { trustedLogs: options.trustedLogs }),
    ...(options.verifySignature && { verifySignature: options.verifySignature }),
  });
  const opened = await openManifest(reader, verifier, checkpoint);
  checks.push(opened.check);
  const signers = [...log.signers, ...opened.signers];
  if (opened.manifest === undefined) return conclude(checks, distinct(signers));
  const all = await verifyEach(reader, verifier, opened.manifest, checkpoint, options);
  return conclude([...checks, ...all.checks], distinct([...signers, ...all.signers]));
}

async function checkKeySet(
  reader: ExportReader,
  vkey: string,
  records: readonly KeyRecord[],
): Promise<Check> {
  const id = "key-set";
  const bytes = await reader.read(EXPORT_FILES.keySet, 8 * 1024 * 1024);
  if (bytes === undefined) return failed(id, `${EXPORT_FILES.keySet} is missing`);
  try {
    const found = decodeKeySet(bytes);
    const expected = [parseVkey(vkey).publicKey, ...records.map(({ key }) => parseKeyText(key))];
    const isSame =
      found.length === expected.length &&
      found.every((key, at) => equalBytes(key, expected[at] ?? new Uint8Array(0)));
    return isSame
      ? held(id, `${found.length} keys`)
      : failed(id, "other keys than log.vkey and keys.jsonl");
  } catch (error) {
    return failedBy(id, error);
  }
}

type OpenedManifest = {
  check: Check;
  signers: readonly SignerTrust[];
  manifest?: Manifest;
};

async function openManifest(
  reader: ExportReader,
  verifier: StatementVerifier,
  checkpoint: OpenedCheckpoint,
): Promise<OpenedManifest> {
  const id = "manifest";
  const maxBytes = MAX_MANIFEST_BYTES + 8 * 1024;
  const bytes = await reader.read(EXPORT_FILES.manifest, maxBytes);
  if (bytes === undefined) {
    return { check: failed(id, `${EXPORT_FILES.manifest} is missing`), signers: [] };
  }
  try {
    const statement = decodeStatement(bytes, MANIFEST_CONTENT_TYPE, maxBytes);
    const manifest = decodeManifest(statement.payload);
    const { size, origin, root } = checkpoint;
    const { checks, signers } = await verifier.verifyIssuer(statement, size);
    const broken = checks.find(({ status }) => status === "failed");
    if (broken !== undefined) return { check: failed(id, broken.detail), signers };
    const { header } = statement;
    const isOfLog =
      statement.receipt === undefined &&
      header.issuer === origin &&
      header.subject === treeSubject(size) &&
      manifest.size === size &&
      manifest.root === encodeHex(root);
    if (!isOfLog)
      return { check: failed(id, "it is of another tree than the checkpoint"), signers };
    return { check: held(id, `a tree of ${size} entries`), signers, manifest };
  } catch (error) {
    return { check: failedBy(id, error), signers: [] };
  }
}

async function verifyEach(
  reader: ExportReader,
  verifier: StatementVerifier,
  { entries }: Manifest,
  { size, root }: OpenedCheckpoint,
  options: StatementsOptions,
): Promise<{ checks: Check[]; signers: SignerTrust[] }> {
  const tallies: Tallies = new Map();
  const signers = new Map<string, SignerTrust>();
  const total = entries.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  let missing = 0;
  let done = 0;
  const verifyOne = async (seq: number): Promise<void> => {
    const bytes = await reader.read(statementPath(seq), MAX_STATEMENT_BYTES);
    missing = bytes === undefined ? missing + 1 : 0;
    if (bytes === undefined) {
      countFailed(tallies, "statements-complete", seq, "the statement is missing");
      return;
    }
    const report = await verifier.verify(bytes);
    const { index, tree } = report;
    if (index === undefined || index === seq) countHeld(tallies, "statements-complete");
    else countFailed(tallies, "statements-complete", seq, `the file is of entry ${index}`);
    for (const check of report.checks) {
      if (check.status === "failed") countFailed(tallies, check.id, seq, check.detail, check.code);
      else if (check.id !== "inclusion") countHeld(tallies, check.id);
    }
    if (tree !== undefined) {
      if (tree.size === size && equalBytes(tree.root, root)) countHeld(tallies, "inclusion");
      else countFailed(tallies, "inclusion", seq, "in another tree than that of the checkpoint");
    }
    for (const signer of report.signers) signers.set(`${signer.role} ${signer.key}`, signer);
    if (report.entry !== undefined) options.onEntry?.(report.entry);
  };
  for (const [first, last] of entries) {
    for (let seq = first; seq <= last && missing < MAX_MISSING; seq += 1) {
      await verifyOne(seq);
      done += 1;
      if (done % PROGRESS === 0 || done === total) options.onProgress?.(done, total);
    }
  }
  const checks = TALLIED.map((id) => {
    const tally = tallies.get(id);
    return tally === undefined ? skipped(id, "nothing to check") : tallyCheck(tally, "statements");
  });
  return { checks, signers: [...signers.values()] };
}
