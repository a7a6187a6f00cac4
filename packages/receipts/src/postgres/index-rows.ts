import type { PoolClient } from "pg";
import { decodeEntry } from "../entry/decode-entry.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { BLOCK_WIDTH, SPAN_WIDTH, SpanBuilder, trimSpan } from "../spans/spans.js";
import type { Span, SpanBatch, SpanRow } from "../spans/spans.js";
import { lockLog } from "./lock-log.js";
import type { LockedLog } from "./lock-log.js";
import { HAS_OLD_COLUMNS, OLD_COLUMNS } from "./schema.js";
import { arrayText, runBatch } from "./statement-batch.js";
import type { Statement } from "./statement-batch.js";

const NAMES = ENTRY_COLUMNS.join(", ");
const INSERT_KINDS = `INSERT INTO countersign_kinds (log_id, kind, ${NAMES})
SELECT $1::int, * FROM unnest($2::bigint[], ${ENTRY_COLUMNS.map((name, at) => `$${at + 3}::${name === "allowed" ? "boolean" : "text"}[]`).join(", ")})`;
const INSERT_SPANS = `
WITH stored AS (
  INSERT INTO countersign_prefixes SELECT $1::int, * FROM unnest($9::text[], $10::bigint[]) ON CONFLICT DO NOTHING
)
INSERT INTO countersign_spans (log_id, last_seq, first_seq, kind, entries, earliest, latest, detail)
SELECT $1::int, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[], $8::text[])`;

/** Inserts spans, and the kinds that they need, while the row of the log is locked. */
export function spanStatements(
  { logId, kinds }: LockedLog,
  { spans, prefixes }: SpanBatch,
): Statement[] {
  const { added } = kinds;
  const column = (pick: (span: Span) => number | string): string => arrayText(spans.map(pick));
  const inserted: Statement = {
    name: "countersign_spans",
    text: INSERT_SPANS,
    values: [
      logId,
      column((one) => one.last),
      column((one) => one.first),
      column((one) => one.kind),
      column((one) => one.entries),
      column((one) => one.earliest),
      column((one) => one.latest),
      column((one) => one.detail),
      arrayText(prefixes.map(({ prefix }) => prefix)),
      arrayText(prefixes.map(({ block }) => block)),
    ],
  };
  if (added.length === 0) return [inserted];
  const columns = ENTRY_COLUMNS.map((_, at) =>
    arrayText(added.map(({ values }) => values[at] ?? null)),
  );
  const values = [logId, arrayText(added.map(({ kind }) => kind)), ...columns];
  return [{ name: "countersign_kinds", text: INSERT_KINDS, values }, inserted];
}

/** Entries per transaction: appends wait for one. */
const CHUNK = 2_048;

/**
 * Indexes some of the entries that an older version stored without spans; true when more are left.
 */
export async function indexOlderRows(client: PoolClient, target: LockedLog): Promise<boolean> {
  const { logId, kinds } = target;
  const row = await lockLog(client, target, "strict");
  const size = Number(row.size);
  const indexed = Number(row.indexed);
  const start = Math.max(indexed, Number(row.first_entry));
  const end = Math.min(size, start + CHUNK);
  if (start < end) {
    const { rows } = await client.query<{ body: Buffer }>(
      "SELECT body FROM countersign_entries WHERE log_id = $1 AND seq >= $2 AND seq < $3 ORDER BY seq",
      [logId, start, end],
    );
    const spans = new SpanBuilder();
    for (const [at, { body }] of rows.entries()) {
      const entry = decodeEntry(body);
      spans.add(kinds.find(entry), start + at, entry.received_at, entry.receipt.id);
    }
    await runBatch(client, spanStatements(target, spans.take()));
  }
  if (indexed < end) {
    const sql = "UPDATE countersign_logs SET indexed = $2 WHERE log_id = $1";
    await client.query(sql, [logId, end]);
  }
  await client.query("COMMIT");
  return end < size;
}

/** Removes the columns of older versions when no log needs them any more. */
export async function dropOldColumns(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(`SELECT ${HAS_OLD_COLUMNS} AS found`);
  if (rows[0]?.found !== true) return;
  const drops = OLD_COLUMNS.map((column) => `DROP COLUMN IF EXISTS ${column}`).join(", ");
  // Locked in one order with appends: first the rows of the logs, then the table of entries.
  await client.query(`BEGIN; SET LOCAL lock_timeout = '2s'; LOCK TABLE countersign_logs;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM countersign_logs WHERE indexed < size)
    AND ${HAS_OLD_COLUMNS}
  THEN ALTER TABLE countersign_entries ${drops}; END IF;
END $$; COMMIT`);
}

/** Removes the entries before `$2` from the index; kinds go with their last span. */
const REMOVE_SPANS = `
WITH removed AS (
  DELETE FROM countersign_spans WHERE log_id = $1 AND last_seq < $2 RETURNING kind
)
DELETE FROM countersign_kinds AS one USING removed WHERE one.log_id = $1 AND one.kind = removed.kind
  AND NOT EXISTS (SELECT FROM countersign_spans AS other WHERE other.log_id = $1 AND other.kind = one.kind AND other.last_seq >= $2)`;

/** Removes the entries before `first` from the index, while the row of the log is locked. */
export async function removeSpans(client: PoolClient, logId: number, first: number): Promise<void> {
  await client.query(REMOVE_SPANS, [logId, first]);
  const block = Math.floor(first / BLOCK_WIDTH);
  await client.query("DELETE FROM countersign_prefixes WHERE log_id = $1 AND block < $2", [
    logId,
    block,
  ]);
  const { rows } = await client.query<SpanRow>(
    "SELECT * FROM countersign_spans WHERE log_id = $1 AND first_seq < $2 AND last_seq >= $2 AND last_seq < $2 + $3",
    [logId, first, SPAN_WIDTH],
  );
  for (const row of rows) {
    const span = trimSpan(row, first);
    await client.query(
      "UPDATE countersign_spans SET first_seq = $3, entries = $4, earliest = $5, latest = $6, detail = $7 WHERE log_id = $1 AND last_seq = $2",
      [logId, span.last, span.first, span.entries, span.earliest, span.latest, span.detail],
    );
  }
}
