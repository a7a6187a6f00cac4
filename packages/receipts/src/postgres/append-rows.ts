import type { PoolClient } from "pg";
import { receiptId } from "../entry/draft.js";
import { HASH_BYTES } from "../merkle/hash.js";
import type { Frontier } from "../merkle/tree.js";
import { SpanBuilder } from "../spans/spans.js";
import { keyRetired } from "../store/failure.js";
import type { AppendBatch, Durability, StoreHead } from "../store/store.js";
import { encodeFrontier, headOfRow } from "./frontier.js";
import { insertSpans } from "./index-rows.js";
import { lockLog } from "./lock-log.js";
import type { LockedLog } from "./lock-log.js";

// Entry bodies are sent as one binary parameter that the server splits: quoting JSON texts for an
// array literal would cost the event loop more than everything else here.
const INSERT = `
WITH moved AS (
  UPDATE countersign_logs SET size = $2::bigint + cardinality($5::int[]), frontier = $3::bytea, seal = $8::bytea,
    indexed = CASE WHEN indexed = $2::bigint THEN $2::bigint + cardinality($5::int[]) ELSE indexed END
  WHERE log_id = $1
)
INSERT INTO countersign_entries (log_id, seq, leaf, body)
SELECT $1, $2::bigint + row.at - 1,
  substring($7::bytea FROM ((row.at - 1) * ${HASH_BYTES} + 1)::int FOR ${HASH_BYTES}),
  substring($4::bytea FROM row.start FOR row.length)
FROM ROWS FROM (unnest($5::int[]), unnest($6::int[])) WITH ORDINALITY AS row (start, length, at)`;

async function insertBatch(
  client: PoolClient,
  logId: number,
  head: Frontier,
  batch: AppendBatch,
): Promise<void> {
  const starts: number[] = [];
  const lengths: number[] = [];
  const records = Buffer.concat(batch.records);
  for (let at = 0; at < records.length;) {
    const length = records.readUInt16BE(at);
    // Positions in SQL are 1-based.
    starts.push(at + 3);
    lengths.push(length);
    at += 2 + length;
  }
  await client.query({
    name: "countersign_append",
    text: INSERT,
    values: [
      logId,
      head.size,
      encodeFrontier(batch.frontier),
      records,
      starts,
      lengths,
      Buffer.concat(batch.leaves),
      batch.frontier.seal ?? null,
    ],
  });
  if (batch.above.length > 0) {
    await client.query(
      "INSERT INTO countersign_hashes SELECT $1, level, position, decode(hash, 'hex') FROM unnest($2::int[], $3::bigint[], $4::text[]) AS one (level, position, hash)",
      [
        logId,
        batch.above.map((one) => one.level),
        batch.above.map((one) => one.index),
        batch.above.map((one) => Buffer.from(one.hash).toString("hex")),
      ],
    );
  }
}

/** The log to append to. */
export type AppendTarget = LockedLog & {
  /** Bytes of the key history at the writer's start; histories only grow. */
  readonly historyBytes?: number | undefined;
};

/**
 * One append in one transaction.
 * @throws CountersignError `ERR_STORE_KEY_RETIRED` when the key history has changed
 */
export async function appendRows(
  client: PoolClient,
  target: AppendTarget,
  build: (head: StoreHead) => AppendBatch,
  durability: Durability,
): Promise<void> {
  const { logId, historyBytes, kinds } = target;
  const row = await lockLog(client, target, durability);
  const head = headOfRow(row);
  if (historyBytes !== undefined && row.history_bytes !== historyBytes) throw keyRetired(head.size);
  const batch = build(head);
  await insertBatch(client, logId, head, batch);
  // Entries without spans come first: those of an older version are indexed in the background.
  if (Number(row.indexed) === head.size) {
    const spans = new SpanBuilder();
    for (const [at, draft] of batch.drafts().entries()) {
      const id = receiptId(draft.receipt.event_id);
      spans.add(kinds.find(draft), head.size + at, draft.received_at, id);
    }
    await insertSpans(client, target, spans.take());
  }
  await client.query("COMMIT");
}
