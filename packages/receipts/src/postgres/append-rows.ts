import type { PoolClient } from "pg";
import { receiptId } from "../entry/draft.js";
import { HASH_BYTES } from "../merkle/hash.js";
import type { Frontier } from "../merkle/tree.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { keyRetired } from "../store/failure.js";
import type { AppendBatch, Durability, StoreHead } from "../store/store.js";
import { columnText } from "./column-text.js";
import { encodeFrontier, headOfRow } from "./frontier.js";
import type { HeadRow } from "./frontier.js";
import { PG_TEXT_COLUMNS } from "./schema.js";

const ALLOWED = ENTRY_COLUMNS.indexOf("allowed");

// Entry bodies are sent as one binary parameter that the server splits: quoting JSON texts for an
// array literal would cost the event loop more than everything else here.
const TEXT_NAMES = PG_TEXT_COLUMNS.join(", ");
const FIRST_TEXT = 10;
const INSERT = `
WITH moved AS (
  UPDATE countersign_logs SET size = $2::bigint + cardinality($5::int[]), frontier = $3::bytea, seal = $9::bytea WHERE log_id = $1
)
INSERT INTO countersign_entries (log_id, seq, received_at, leaf, body, receipt_id, allowed, ${TEXT_NAMES})
SELECT $1, $2::bigint + row.at - 1, row.received_at,
  substring($7::bytea FROM ((row.at - 1) * ${HASH_BYTES} + 1)::int FOR ${HASH_BYTES}),
  substring($4::bytea FROM row.start FOR row.length), row.receipt_id, row.allowed, ${PG_TEXT_COLUMNS.map((name) => `row.${name}`).join(", ")}
FROM ROWS FROM (unnest($5::int[]), unnest($6::int[]), unnest($8::bigint[]), unnest($${FIRST_TEXT}::text[]), unnest($${FIRST_TEXT + 1}::boolean[]), ${PG_TEXT_COLUMNS.map((_, index) => `unnest($${FIRST_TEXT + 2 + index}::text[])`).join(", ")})
WITH ORDINALITY AS row (start, length, received_at, receipt_id, allowed, ${TEXT_NAMES}, at)`;

async function insertBatch(
  client: PoolClient,
  logId: number,
  head: Frontier,
  batch: AppendBatch,
): Promise<void> {
  const starts: number[] = [];
  const lengths: number[] = [];
  const times: number[] = [];
  const ids: string[] = [];
  const allowed: boolean[] = [];
  const texts: (string | null)[][] = PG_TEXT_COLUMNS.map(() => []);
  const records = Buffer.concat(batch.records);
  let at = 0;
  for (const draft of batch.drafts()) {
    const length = records.readUInt16BE(at);
    // Positions in SQL are 1-based.
    starts.push(at + 3);
    lengths.push(length);
    at += 2 + length;
    times.push(draft.received_at);
    ids.push(receiptId(draft.receipt.event_id));
    const values = columnValues(draft);
    allowed.push(values[ALLOWED] === true);
    values.splice(ALLOWED, 1);
    values.forEach((value, column) =>
      texts[column]?.push(typeof value === "string" ? columnText(value) : null),
    );
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
      times,
      batch.frontier.seal ?? null,
      ids,
      allowed,
      ...texts,
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

// A gateway that froze in a transaction is rolled back before the waiting gateways time out.
const WAITING =
  "SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '8s'; SET LOCAL statement_timeout = '30s'";

/** The log to append to, and the key history that its writer knows. */
export type AppendTarget = {
  readonly logId: number;
  /** Bytes of the key history at the writer's start; histories only grow. */
  readonly historyBytes?: number | undefined;
};

/**
 * One append in one transaction. It locks the row of the log first: the holder of the lock knows
 * the true head, and other writers wait for the commit or the rollback.
 * @throws CountersignError `ERR_STORE_KEY_RETIRED` when the key history has changed
 */
export async function appendRows(
  client: PoolClient,
  { logId, historyBytes }: AppendTarget,
  build: (head: StoreHead) => AppendBatch,
  durability: Durability,
): Promise<void> {
  const commit = durability === "strict" ? "on" : "off";
  const opened = (await client.query(
    `BEGIN; SET LOCAL synchronous_commit = ${commit}; ${WAITING}; SELECT size, frontier, seal, octet_length(key_history) AS history_bytes FROM countersign_logs WHERE log_id = ${logId} FOR UPDATE`,
  )) as unknown as { rows: (HeadRow & { history_bytes: number | null })[] }[];
  const row = opened.at(-1)?.rows[0];
  if (row === undefined) throw new Error("the log's row is gone");
  const head = headOfRow(row);
  if (historyBytes !== undefined && row.history_bytes !== historyBytes) throw keyRetired(head.size);
  await insertBatch(client, logId, head, build(head));
  await client.query("COMMIT");
}
