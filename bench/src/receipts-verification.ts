import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createSigner, generateKey } from "@countersign/core/sign";
import {
  createNoteKey,
  encodeKeyRecord,
  encodeVkey,
  parseCheckpoint,
  parseNote,
  startKeyHistory,
} from "@countersign/receipts";
import { writeExport } from "@countersign/receipts/export";
import { openLog } from "@countersign/receipts/log";
import type { EntryDraft, ReceiptStore } from "@countersign/receipts/log";
import { createSigningPool } from "@countersign/receipts/sign";
import type { SignMode } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { verifyExportDirectory } from "@countersign/receipts/verify-node";
import { median } from "./statistics.js";

const ORIGIN = "bench.example/log";
const ROUNDS = 3;
const BARE_CHECKS = 10_000;

/** Operations per second, and processor time of all threads per operation. */
type Work = { readonly rate: number; readonly cpuMicroseconds: number };

async function measure(count: number, work: () => Promise<void>): Promise<Work> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  const rate = (count * 1_000) / (performance.now() - start);
  return { rate, cpuMicroseconds: (user + system) / count };
}

async function* readAll(store: ReceiptStore, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += 1_024) {
    yield* await store.readEntries(start, Math.min(size, start + 1_024));
  }
}

type ExportPlan = {
  readonly directory: string;
  readonly count: number;
  readonly sign: SignMode;
  draftOf(number: number): EntryDraft;
};

async function makeExport({ directory, count, sign, draftOf }: ExportPlan): Promise<string> {
  const [key, logKey] = [generateKey(), generateKey()];
  const store = await openSqliteStore({ directory: join(directory, `verify-${sign}`) });
  const signer = await createSigningPool(key);
  const checkpointSigner = createSigner(logKey);
  const log = await openLog({ store, signer, checkpointSigner, origin: ORIGIN, sign });
  for (let at = 0; at < count; at += 5_000) {
    const part = Math.min(5_000, count - at);
    await Promise.all(Array.from({ length: part }, (_, index) => log.append(draftOf(at + index))));
  }
  const checkpoint = await log.checkpoint();
  const record = await startKeyHistory(createSigner(key), { createdAt: 0, firstEntry: 0 });
  const target = join(directory, `verify-export-${sign}`);
  await writeExport(target, {
    checkpoint,
    vkey: encodeVkey(createNoteKey(ORIGIN, logKey.publicKey)),
    keys: `${encodeKeyRecord(record)}\n`,
    entries: readAll(store, parseCheckpoint(parseNote(checkpoint).text).size),
  });
  await log.close();
  return target;
}

/** Checks only the signatures of an export, on all cores at once. */
async function startBareChecks(
  receipts: string,
): Promise<{ measure(): Promise<Work>; close(): Promise<void> }> {
  const script = new URL("./receipts-verification-bare.js", import.meta.url);
  const workers = Array.from(
    { length: availableParallelism() },
    () => new Worker(script, { workerData: receipts }),
  );
  await Promise.all(workers.map((worker) => once(worker, "message")));
  return {
    measure: () =>
      measure(BARE_CHECKS * workers.length, async () => {
        const done = workers.map((worker) => once(worker, "message"));
        for (const worker of workers) worker.postMessage(BARE_CHECKS);
        await Promise.all(done);
      }),
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** The cost of verifying an export, compared with bare signature checks on all cores. */
export type VerificationFigures = Work & {
  /** Processor time of one bare check relative to one verified entry. */
  readonly share: number;
  /** Rate relative to bare checks. */
  readonly shareOfRate: number;
};

async function measureExport(
  target: string,
  count: number,
  bare: { measure(): Promise<Work> },
): Promise<VerificationFigures> {
  const works: Work[] = [];
  const limits: Work[] = [];
  // The limit is measured before and after each round, so that a busy neighbour slows both equally.
  let before = await bare.measure();
  for (let round = 0; round < ROUNDS; round += 1) {
    const work = await measure(count, async () => {
      const { valid } = await verifyExportDirectory(target);
      if (!valid) throw new Error("the export does not verify");
    });
    const after = await bare.measure();
    works.push(work);
    limits.push({
      rate: (before.rate + after.rate) / 2,
      cpuMicroseconds: (before.cpuMicroseconds + after.cpuMicroseconds) / 2,
    });
    before = after;
  }
  const ratios = (ratio: (work: Work, limit: Work) => number): number =>
    median(works.map((work, round) => ratio(work, limits[round] as Work)));
  return {
    rate: median(works.map(({ rate }) => rate)),
    cpuMicroseconds: median(works.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    share: ratios((work, limit) => limit.cpuMicroseconds / work.cpuMicroseconds),
    shareOfRate: ratios((work, limit) => work.rate / limit.rate),
  };
}

/**
 * Verifies exports of `count` entries, signed separately and in batches, compared with bare
 * signature checks.
 */
export async function measureVerification(
  directory: string,
  count: number,
  draftOf: (number: number) => EntryDraft,
): Promise<Record<SignMode, VerificationFigures>> {
  const each = await makeExport({ directory, count, sign: "each", draftOf });
  const batch = await makeExport({ directory, count, sign: "batch", draftOf });
  const bare = await startBareChecks(join(each, "receipts.jsonl"));
  try {
    return {
      each: await measureExport(each, count, bare),
      batch: await measureExport(batch, count, bare),
    };
  } finally {
    await bare.close();
  }
}
