import type { PoolClient } from "pg";
import { receiptId } from "../entry/draft.js";
import { HASH_BYTES } from "../merkle/hash.js";
import type { Frontier } from "../merkle/tree.js";
import { SpanBuilder } from "../spans/spans.js";
import { keyRetired } from "../store/failure.js";
import type { AppendBatch, Durability, StoreHead } from "../store/store.js";
import { copyStatement } from "./copy-rows.js";
import { encodeFrontier, headOfRow } from "./frontier.js";
import { spanStatements } from "./index-rows.js";
import { lockLog } from "./lock-log.js";
import type { LockedLog } from "./lock-log.js";
import { segmentsOf } from "./partitions.js";
import type { PartitionRow } from "./partitions.js";
import { arrayText, runBatch } from "./statement-batch.js";
import type { Statement } from "./statement-batch.js";

const MOVE_HEAD = `
UPDATE countersign_logs SET size = $3::bigint, frontier = $4, seal = $5,
  indexed = CASE WHEN indexed = $2::bigint THEN $3::bigint ELSE indexed END
WHERE log_id = $1::int`;
const INSERT_HASHES =
  "INSERT INTO countersign_hashes SELECT $1::int, level, position, decode(hash, 'hex') FROM unnest($2::int[], $3::bigint[], $4::text[]) AS one (level, position, hash)";
const COMMIT: Statement = { name: "countersign_COMMIT", text: "COMMIT", values: [] };

function entryStatements(
  logId: number,
  row: PartitionRow,
  head: Frontier,
  batch: AppendBatch,
): Statement[] {
  const records = batch.records.length === 1 ? batch.records[0] : Buffer.concat(batch.records);
  const leaves = Buffer.concat(batch.leaves);
  const bytes = records as Uint8Array;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let position = 0;
  const copies = segmentsOf(logId, row, head.size, head.size + batch.count).map((segment) => {
    const count = segment.to - segment.from;
    const from = (segment.from - head.size) * HASH_BYTES;
    const own = leaves.subarray(from, from + count * HASH_BYTES);
    const { statement, end } = copyStatement(logId, segment, source, position, own);
    position = end;
    return statement;
  });
  const { frontier, above } = batch;
  const size = head.size + batch.count;
  const moved: Statement = {
    name: "countersign_head",
    text: MOVE_HEAD,
    values: [
      logId,
      head.size,
      size,
      encodeFrontier(frontier),
      frontier.seal === undefined ? null : Buffer.from(frontier.seal),
    ],
  };
  if (above.length === 0) return [...copies, moved];
  const hashes: Statement = {
    name: "countersign_hashes",
    text: INSERT_HASHES,
    values: [
      logId,
      arrayText(above.map((one) => one.level)),
      arrayText(above.map((one) => one.index)),
      arrayText(above.map((one) => Buffer.from(one.hash).toString("hex"))),
    ],
  };
  return [...copies, moved, hashes];
}

/** The log to append to. */
export type AppendTarget = LockedLog & {
  /** Bytes of the key history at the writer's start; histories only grow. */
  readonly historyBytes?: number | undefined;
};

/** The row of a log before an append. */
export type AppendedTo = Required<PartitionRow> & { readonly size: string };

/**
 * One append in one transaction and two round trips: the lock, then everything else with the COMMIT.
 * Returns the row of the log as it was.
 * @throws CountersignError `ERR_STORE_KEY_RETIRED` when the key history has changed
 */
export async function appendRows(
  client: PoolClient,
  target: AppendTarget,
  build: (head: StoreHead) => AppendBatch,
  durability: Durability,
): Promise<AppendedTo> {
  const { logId, historyBytes, kinds } = target;
  const row = await lockLog(client, target, durability);
  const head = headOfRow(row);
  if (historyBytes !== undefined && row.history_bytes !== historyBytes) throw keyRetired(head.size);
  const batch = build(head);
  const statements = entryStatements(logId, row, head, batch);
  // Entries without spans come first: those of an older version are indexed in the background.
  if (Number(row.indexed) === head.size) {
    const spans = new SpanBuilder();
    for (const [at, draft] of batch.drafts().entries()) {
      const id = receiptId(draft.receipt.event_id);
      spans.add(kinds.find(draft), head.size + at, draft.received_at, id);
    }
    statements.push(...spanStatements(target, spans.take()));
  }
  await runBatch(client, [...statements, COMMIT]);
  return row;
}
