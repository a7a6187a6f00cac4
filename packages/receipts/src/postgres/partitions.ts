import type { PoolClient } from "pg";
import { TILE_WIDTH } from "../tiles/path.js";

/**
 * The entries of a log are in tables of their own, each with the numbers from its first one, and at
 * most this many: removing old entries drops whole tables. `countersign_entries` is the parent, so
 * every query sees all of them. It also has the rows of older versions, and those that no table is
 * there for.
 */
export const PARTITION_WIDTH = 2 ** 22;

/** The partitions that the next entries of a log go to; -1 when there is none. */
export type PartitionRow = { readonly part?: string; readonly next_part?: string };

/** Entries `from` up to, not including, `to` that go to one table. */
export type Segment = { readonly table: string; readonly from: number; readonly to: number };

/** The table of the partition that starts with an entry. */
export function partitionName(logId: number, first: number): string {
  return `countersign_entries_${logId}_${first}`;
}

/** The tables of entries that are to be appended. */
export function segmentsOf(
  logId: number,
  { part = "-1", next_part: next = "-1" }: PartitionRow,
  start: number,
  end: number,
): Segment[] {
  const found = new Map<number, string>();
  for (const first of [part, next].map(Number)) {
    if (first >= 0) found.set(first, partitionName(logId, first));
  }
  const cuts = [...found.keys()].flatMap((first) => [first, first + PARTITION_WIDTH]);
  const segments: Segment[] = [];
  for (let from = start; from < end;) {
    const to = Math.min(end, ...cuts.filter((cut) => cut > from));
    const firsts = [...found.keys()].filter(
      (first) => first <= from && from < first + PARTITION_WIDTH,
    );
    const table = found.get(Math.max(...firsts)) ?? "countersign_entries";
    segments.push({ table, from, to });
    from = to;
  }
  return segments;
}

/** The first entries of the partitions of a log, oldest first. */
export async function listPartitions(client: PoolClient, logId: number): Promise<number[]> {
  const prefix = partitionName(logId, 0).slice(0, -1);
  const { rows } = await client.query<{ first: string }>(
    `SELECT substr(relname, ${prefix.length + 1}) AS first FROM pg_inherits JOIN pg_class ON oid = inhrelid
     WHERE inhparent = to_regclass('countersign_entries') AND starts_with(relname, $1)`,
    [prefix],
  );
  return rows.map(({ first }) => Number(first)).toSorted((left, right) => left - right);
}

/** Entries that other gateways may append while a table is created. */
const MARGIN = 4_096;
/** One gateway at a time makes partitions of a log. */
const ALONE =
  "SELECT pg_try_advisory_xact_lock(hashtextextended('countersign.partitions ' || $1, 0)) AS alone";

/**
 * Makes the partition of the entries from the end of the log on, unless one is planned already or
 * the current one is young: it has no entries before `rotate`, and is less than half full.
 */
export async function planPartition(
  client: PoolClient,
  logId: number,
  rotate = Number.NEGATIVE_INFINITY,
): Promise<void> {
  for (let margin = 0; ; margin = margin === 0 ? MARGIN : margin * 4) {
    await client.query("BEGIN; SET LOCAL lock_timeout = '2s'");
    const isDone = await isPlanned(client, logId, rotate, margin);
    await client.query(isDone ? "COMMIT" : "ROLLBACK");
    if (isDone) return;
  }
}

/**
 * Makes and plans a table in a transaction; false when the log has grown past its first entry
 * meanwhile. Appends continue: they lock neither table, and wait for the row only until the commit.
 */
async function isPlanned(
  client: PoolClient,
  logId: number,
  rotate: number,
  margin: number,
): Promise<boolean> {
  const lock = await client.query<{ alone: boolean }>(ALONE, [logId]);
  if (lock.rows[0]?.alone !== true) return true;
  const { rows } = await client.query<Required<PartitionRow> & { size: string }>(
    "SELECT size, part, next_part FROM countersign_logs WHERE log_id = $1",
    [logId],
  );
  const [row] = rows;
  const [size, part, next] = [Number(row?.size), Number(row?.part), Number(row?.next_part)];
  const current = Math.max(part, next);
  if (row === undefined || size < next) return true;
  const isFull = current < 0 || size > current + PARTITION_WIDTH / 2;
  if (!isFull && current >= rotate) return true;
  const end = Math.ceil((size + margin) / TILE_WIDTH) * TILE_WIDTH;
  // A full one is used up first; an old one is closed.
  const start = current < rotate || current < 0 ? end : Math.max(end, current + PARTITION_WIDTH);
  if (start === current) return true;
  const range = `log_id = ${logId} AND seq >= ${start} AND seq < ${start + PARTITION_WIDTH}`;
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${partitionName(logId, start)} (PRIMARY KEY (log_id, seq), CHECK (${range})) INHERITS (countersign_entries)`,
  );
  const { rowCount } = await client.query(
    "UPDATE countersign_logs SET part = $3, next_part = $2 WHERE log_id = $1 AND size <= $2",
    [logId, start, current],
  );
  return rowCount === 1;
}
