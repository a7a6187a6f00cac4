import { createSigner, importPrivateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import { OLDER_DATABASE, olderDatabase, startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { receiptId } from "../entry/draft.js";
import { openLog } from "../log/open-log.js";
import type { ReceiptLog } from "../log/open-log.js";
import { createLogSeal } from "../log/seal.js";
import { HASH_BYTES, leafHash } from "../merkle/hash.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import { createNoteKey } from "../note/vkey.js";
import { parseProof } from "../proof/tlog-proof.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { SpanBuilder } from "../spans/spans.js";
import type { ReceiptStore } from "../store/store.js";
import { fill } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { verifyReceipt } from "../verify/index.js";
import { openConnections } from "./connections.js";
import { encodeFrontier, headOfRow } from "./frontier.js";
import type { HeadRow } from "./frontier.js";
import { spanStatements } from "./index-rows.js";
import { Kinds } from "./kinds.js";
import { openPostgresStore } from "./open-postgres-store.js";
import { runBatch } from "./statement-batch.js";

const { origin, entries: OLD, removed, keys } = OLDER_DATABASE;
const receiptKey = importPrivateKey(keys.receipts);
const noteKey = importPrivateKey(keys.checkpoint);

let server: RunningPostgres;
let client: Client;
beforeAll(async () => {
  server = await startPostgres();
  client = new Client({ connectionString: server.url });
  await client.connect();
  for (const statement of await olderDatabase()) await client.query(statement);
}, 60_000);
afterAll(async () => {
  await client.end();
  await server.stop();
});

const open = (readOnly = false): Promise<ReceiptStore> =>
  openPostgresStore({ url: server.url, log: origin, readOnly });
const logOf = async (store: ReceiptStore): Promise<ReceiptLog> =>
  openLog({
    store,
    signer: await createInThreadSigner(receiptKey),
    checkpointSigner: createSigner(noteKey),
    origin,
    seal: createLogSeal(keys.seal, origin),
    checkpointInterval: 0,
    groupSize: 20,
  });

/** The append of the version before: it knows one table of entries, and no partitions. */
function appendAsBefore(): Pick<ReceiptStore, "append" | "close"> {
  const connections = openConnections({ url: server.url, connections: 1 });
  return {
    append: (build) =>
      connections.withClient(async (own) => {
        await own.query("BEGIN");
        type Row = HeadRow & { log_id: number; indexed: string };
        const { rows } = await own.query<Row>(
          "SELECT log_id, size, frontier, seal, indexed FROM countersign_logs WHERE name = $1 FOR UPDATE",
          [origin],
        );
        const row = rows[0] as Row;
        const head = headOfRow(row);
        const { records, leaves, drafts, frontier, above, count } = build(head);
        const bytes = Buffer.concat(records);
        const hashes = Buffer.concat(leaves);
        for (let at = 0, read = 0; at < count; at += 1) {
          const end = read + 2 + bytes.readUInt16BE(read);
          await own.query(
            "INSERT INTO countersign_entries (log_id, seq, leaf, body) VALUES ($1, $2, $3, $4)",
            [
              row.log_id,
              head.size + at,
              hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
              bytes.subarray(read + 2, end),
            ],
          );
          read = end;
        }
        for (const { level, index, hash } of above) {
          const values = [row.log_id, level, index, Buffer.from(hash)];
          await own.query("INSERT INTO countersign_hashes VALUES ($1, $2, $3, $4)", values);
        }
        await own.query(
          "UPDATE countersign_logs SET size = $2, frontier = $3, seal = $4, indexed = $2 WHERE log_id = $1",
          [row.log_id, head.size + count, encodeFrontier(frontier), frontier.seal],
        );
        const kinds = new Kinds();
        kinds.check(undefined, removed);
        const spans = new SpanBuilder();
        for (const [at, draft] of drafts().entries()) {
          const id = receiptId(draft.receipt.event_id);
          spans.add(kinds.find(draft), head.size + at, draft.received_at, id);
        }
        await runBatch(own, spanStatements({ logId: row.log_id, kinds }, spans.take()));
        await own.query("COMMIT");
      }),
    close: () => connections.close(),
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** What queries and proofs say about the entries of the fixture. */
async function resultsOf(store: ReceiptStore): Promise<unknown[]> {
  const since = 1_763_000_000_000;
  const range = { since, until: since + OLD * 10 };
  return [
    (await store.query(range, { limit: 1_000, order: "oldest" })).entries,
    (await store.query({ ...range, run_id: "run_77" })).entries,
    (await store.query({ ...range, allowed: false }, { limit: 1_000 })).entries,
    (await store.query({ ...range, id: `agui-evt_${String(2_345).padStart(26, "0")}` })).entries,
    await store.count({ by: ["principal", "allowed"], filter: range }),
    hex(await store.readTile({ level: 0, index: 1, width: 256 })),
    hex(await store.readTile({ level: 1, index: 0, width: 11 })),
  ];
}

test("a database of the version before is migrated while its gateway appends; every receipt, query and proof holds", async () => {
  const reader = await open(true);
  const before = await resultsOf(reader);
  expect(before[1]).toHaveLength(20);
  const bodies = await reader.readEntries(removed, OLD);

  const old = appendAsBefore();
  const oldLog = await logOf({ ...(await open(true)), readsDrafts: true, append: old.append });
  let isAppending = true;
  let appended = 0;
  const appending = (async () => {
    while (isAppending) {
      await fill(oldLog, 5, 10_000 + appended);
      appended += 5;
    }
  })();
  await expect.poll(() => appended).toBeGreaterThan(20);
  // Two new gateways start together.
  const stores = await Promise.all([open(), open()]);
  const logs = await Promise.all(stores.map(logOf));
  const since = appended;
  await Promise.all(logs.map((log, at) => fill(log, 400, 20_000 + at * 1_000)));
  await expect.poll(() => appended).toBeGreaterThan(since + 20);
  isAppending = false;
  await appending;
  const total = OLD + appended + 800;
  const log = logs[0] as ReceiptLog;
  await log.append(draftOf(30_000));

  const store = stores[1] as ReceiptStore;
  expect((await store.head()).size).toBe(total + 1);
  expect(await resultsOf(store)).toEqual(before);
  expect(await resultsOf(reader)).toEqual(before);
  expect(await store.count({})).toEqual([{ count: total + 1 - removed, group: [] }]);
  for (let start = removed; start < total; start += 256) {
    expect(await store.findMismatchedRow?.(start, Math.min(total, start + 256))).toBeUndefined();
  }
  expect(await store.readEntries(removed, OLD)).toEqual(bodies);
  const all: Uint8Array[] = [];
  for (let start = removed; start < total; start += 1_000) {
    all.push(...(await store.readEntries(start, Math.min(total, start + 1_000))));
  }
  await log.checkpoint();
  const entries = all.map((bytes, at) => ({ bytes, seq: removed + at }));
  const invalid: number[] = [];
  for (const { bytes, seq } of entries) {
    const { valid } = await verifyReceipt(JSON.stringify(decodeEntry(bytes).receipt));
    if (!valid) invalid.push(seq);
  }
  expect(invalid).toEqual([]);
  const noteKeys = [createNoteKey(origin, noteKey.publicKey)];
  for (const { bytes, seq } of entries.filter((_, at) => at % 25 === 0)) {
    const proof = parseProof(await log.proof(seq));
    const { size, root } = await openCheckpoint(proof.checkpoint, noteKeys, verifyEd25519);
    expect(verifyInclusion(leafHash(bytes), seq, size, proof.hashes, root)).toBe(true);
  }
  // A removed entry still has its proof.
  expect(parseProof(await log.proof(7)).hashes.length).toBeGreaterThan(5);
  // New entries are in a partition; those of the gateway of the version before beside them.
  const { rows } = await client.query<{ table: string; count: string }>(
    "SELECT tableoid::regclass::text AS table, count(*) FROM countersign_entries GROUP BY 1 ORDER BY 1",
  );
  expect(rows).toHaveLength(2);
  expect(Number(rows[1]?.count)).toBeGreaterThan(500);

  // Old and new entries are removed alike.
  const first = await store.planRemoval(2_800, 0);
  expect(first).toBe(2_560 + 240 - (2_800 % 256));
  await store.remove(first);
  expect(await store.first()).toBe(first);
  expect(parseProof(await log.proof(1_000)).hashes.length).toBeGreaterThan(5);
  await Promise.all(logs.map((one) => one.close()));
  await oldLog.close().catch(() => undefined);
  await Promise.all([old.close(), reader.close()]);
}, 60_000);
