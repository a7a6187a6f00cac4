import { equalBytes } from "@countersign/core";
import type { KeyPeriod } from "../keys/verify-history.js";
import { keyPeriods, trustedThroughHistory } from "../keys/verify-history.js";
import { MAX_NOTE_BYTES } from "../note/note.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { BundleContext, BundleReport } from "./bundle.js";
import { verifyBundle } from "./bundle.js";
import type { CheckpointOptions } from "./checkpoint.js";
import { checkCheckpoint } from "./checkpoint.js";
import type { ExportReader } from "./reader.js";
import { checkKeys, readText } from "./key-history.js";
import { createDuplicateFinder, duplicateCheck } from "./duplicates.js";
import type { DuplicateFinder } from "./duplicates.js";
import { EXPORT_FILES } from "./reader.js";
import { normalKey } from "./receipt.js";
import { openReceiptsFile } from "./receipts-file.js";
import type { Check, CheckId, SignerTrust, Verification } from "./result.js";
import { conclude, failed, held, skipped } from "./result.js";
import { readRemoval } from "./removal.js";
import { createReceiptSignatures } from "./signature.js";
import type { Tallies } from "./tally.js";
import { mergeTallies, tallyCheck } from "./tally.js";
import { createExportTree } from "./tree.js";

/** The bundles to verify, and the entries that each key may sign. */
export type BundlePlan = {
  readonly size: number;
  /** The first bundle; earlier ones were removed. */
  readonly first: number;
  readonly bundles: number;
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
  /**
   * The lines of `receipts.jsonl` for the next bundle, in their own buffer; call it once per
   * bundle, in order.
   */
  nextLines(index: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
};

/** Options of {@link verifyExport}. */
export type ExportOptions = CheckpointOptions & {
  /** Receipt keys the verifier trusts; keys that they rotated to are trusted with them. */
  trustedKeys?: readonly string[];
  /**
   * Finds receipts that are in the log twice; by default in memory, with about 100 bytes per entry.
   */
  duplicates?: DuplicateFinder;
  /** Called after each bundle with the number of entries verified so far. */
  onProgress?: (done: number, total: number) => void;
  /** Another way to verify the bundles, in order, such as the parallel verifier for Node. */
  verifyBundles?: (plan: BundlePlan) => AsyncIterable<BundleReport>;
};

/**
 * Consecutive bundles without an own entry before the rest counts as missing too. The author of the
 * export chooses the size: with 2^53 entries and no files, or a few files under many links, the
 * search would never end.
 */
const MAX_MISSING_BUNDLES = 16;

/** The number of entries in a bundle of a log of this size. */
export function bundleWidth(index: number, size: number): number {
  return Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
}

async function* verifyInOrder(
  plan: BundlePlan,
  reader: ExportReader,
  options: ExportOptions,
): AsyncGenerator<BundleReport> {
  const signatures = createReceiptSignatures(options.verifySignature);
  const context: BundleContext = { reader, signatures, periods: plan.periods };
  for (let index = plan.first; index < plan.bundles; index += 1) {
    const lines = await plan.nextLines(index);
    yield await verifyBundle(index, bundleWidth(index, plan.size), context, lines);
  }
}

/** Whether an entry of the bundle has the right number. */
function hasOwnEntry({ tallies }: BundleReport): boolean {
  return tallies.some(({ id, held: count }) => id === "entry-sequence" && count > 0);
}

const TALLIED: readonly CheckId[] = [
  "entries-complete",
  "entry-format",
  "entry-sequence",
  "receipt-signature",
  "deny-signed-singly",
  "entry-key",
  "leaf-tiles",
  "upper-tiles",
  "receipts-file",
];

function tallyChecks(tallies: Tallies): Check[] {
  return TALLIED.map((id) => {
    const tally = tallies.get(id);
    if (tally === undefined) return skipped(id, "nothing to check");
    return tallyCheck(tally, id === "leaf-tiles" || id === "upper-tiles" ? "hashes" : "entries");
  });
}

/** Verifies a whole export: checkpoint, keys, every entry and receipt, every tile, the root. */
export async function verifyExport(
  reader: ExportReader,
  options: ExportOptions = {},
): Promise<Verification> {
  const anchors = options.trustedKeys?.map(normalKey);
  const note = await readText(reader, EXPORT_FILES.checkpoint, MAX_NOTE_BYTES);
  if (note === undefined) {
    return conclude([failed("checkpoint-format", "the checkpoint is missing or not text")], []);
  }
  const vkey = options.presentedKey ?? (await readText(reader, EXPORT_FILES.vkey, 4096));
  const log = await checkCheckpoint(
    note,
    vkey === undefined ? options : { ...options, presentedKey: vkey },
  );
  const keys = await checkKeys(reader, options);
  const checks = [...log.checks, keys.check];
  const { checkpoint } = log;
  // Without a signed size the expected entries are unknown.
  if (checkpoint === undefined) return conclude(checks, log.signers);
  const { size } = checkpoint;
  const removed = await readRemoval(reader, size);
  if (removed !== undefined) checks.push(removed.check);
  if (removed?.check.status === "failed") return conclude(checks, log.signers);
  const receipts = await openReceiptsFile(reader);
  const plan: BundlePlan = {
    size,
    first: (removed?.tree?.frontier.size ?? 0) / TILE_WIDTH,
    nextLines: (index) => receipts.next(bundleWidth(index, size)),
    bundles: Math.ceil(size / TILE_WIDTH),
    periods: keys.records === undefined ? undefined : keyPeriods(keys.records),
  };
  const tallies: Tallies = new Map();
  const tree = createExportTree(reader, tallies, removed?.tree);
  const used = new Set<string>();
  const duplicates = options.duplicates ?? createDuplicateFinder();
  const reports = options.verifyBundles?.(plan) ?? verifyInOrder(plan, reader, options);
  let missing = 0;
  try {
    for await (const report of reports) {
      mergeTallies(tallies, report.tallies);
      for (const key of report.keys) used.add(key);
      await duplicates.add(report.index * TILE_WIDTH, report.fingerprints);
      await tree.append(report);
      options.onProgress?.(Math.min(size, (report.index + 1) * TILE_WIDTH), size);
      missing = hasOwnEntry(report) ? 0 : missing + 1;
      if (missing >= MAX_MISSING_BUNDLES) break;
    }
    if (missing < MAX_MISSING_BUNDLES) await receipts.finish(size, tallies);
  } finally {
    await receipts.close();
  }
  const root = missing < MAX_MISSING_BUNDLES ? await tree.finish() : undefined;
  checks.push(...tallyChecks(tallies), duplicateCheck(await duplicates.find(), `${size} entries`));
  if (root === undefined) checks.push(skipped("tree-root", "entries are missing"));
  else if (equalBytes(root, checkpoint.root)) checks.push(held("tree-root", `${size} entries`));
  else checks.push(failed("tree-root", "the entries hash to another root than the signed one"));
  const trusted = anchors && trustedThroughHistory(keys.records ?? [], new Set(anchors));
  const signers = [...used].map((key): SignerTrust => ({
    key,
    role: "receipt",
    trusted: trusted?.has(key) ?? null,
  }));
  return conclude(checks, [...log.signers, ...signers]);
}
