import { join } from "node:path";
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
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { loadFastVerifier, verifyExportDirectory } from "@countersign/receipts/verify-node";

const ORIGIN = "bench.example/log";

function cpuMicroseconds(since: NodeJS.CpuUsage): number {
  const used = process.cpuUsage(since);
  return used.user + used.system;
}

async function* readAll(store: ReceiptStore, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += 1_024) {
    yield* await store.readEntries(start, Math.min(size, start + 1_024));
  }
}

/** Verifies an export of `count` singly signed entries, beside the bare check of as many signatures. */
export async function measureVerification(
  directory: string,
  count: number,
  draftOf: (number: number) => EntryDraft,
): Promise<{ rate: number; cpuMicroseconds: number; share: number }> {
  const [key, logKey] = [generateKey(), generateKey()];
  const store = await openSqliteStore({ directory: join(directory, "verify") });
  const signer = await createSigningPool(key);
  const checkpointSigner = createSigner(logKey);
  const log = await openLog({ store, signer, checkpointSigner, origin: ORIGIN });
  for (let at = 0; at < count; at += 5_000) {
    const part = Math.min(5_000, count - at);
    await Promise.all(Array.from({ length: part }, (_, index) => log.append(draftOf(at + index))));
  }
  const checkpoint = await log.checkpoint();
  const record = await startKeyHistory(createSigner(key), { createdAt: 0, firstEntry: 0 });
  const target = join(directory, "verify-export");
  await writeExport(target, {
    checkpoint,
    vkey: encodeVkey(createNoteKey(ORIGIN, logKey.publicKey)),
    keys: `${encodeKeyRecord(record)}\n`,
    entries: readAll(store, parseCheckpoint(parseNote(checkpoint).text).size),
  });
  await log.close();

  const check = await loadFastVerifier();
  const message = new Uint8Array(600);
  const signature = createSigner(key).sign(message);
  const bare = async (): Promise<number> => {
    const cpu = process.cpuUsage();
    for (let index = 0; index < 10_000; index += 1) await check(key.publicKey, message, signature);
    return cpuMicroseconds(cpu) / 10_000;
  };
  const before = await bare();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { valid } = await verifyExportDirectory(target);
  const rate = (count * 1_000) / (performance.now() - start);
  const used = cpuMicroseconds(cpu) / count;
  if (!valid) throw new Error("the export does not verify");
  return { rate, cpuMicroseconds: used, share: (before + (await bare())) / 2 / used };
}
