import { TILE_WIDTH } from "../tiles/path.js";
import type { Connections } from "./connections.js";
import { removeSpans } from "./index-rows.js";
import { lockLog } from "./lock-log.js";
import type { LockedLog } from "./lock-log.js";
import { listPartitions, partitionName } from "./partitions.js";

/** Leaf hashes of one statement; appends do not wait for it. */
const HASHED_ROWS = 256 * TILE_WIDTH;
/** Entries of one transaction that appends wait for. */
const REMOVED_ROWS = 8_192;
const KEEP_LEAVES = `
INSERT INTO countersign_leaf_tiles
SELECT $1::int, seq / ${TILE_WIDTH}, string_agg(leaf, ''::bytea ORDER BY seq) FROM countersign_entries
WHERE log_id = $1 AND seq >= $2 AND seq < $3 GROUP BY seq / ${TILE_WIDTH} HAVING count(*) = ${TILE_WIDTH}
ON CONFLICT DO NOTHING`;
const MOVE_FIRST =
  "UPDATE countersign_logs SET first_entry = $2 WHERE log_id = $1 AND first_entry < $2";

const LOCK_NOT_AVAILABLE = "55P03";
const UNDEFINED_TABLE = "42P01";
/** Attempts to drop a table that a query is reading. */
const DROPS = 5;

type Range = { readonly from: number; readonly first: number };

/**
 * The number to remove entries before: the start of a partition, so that whole tables go. In the
 * newest table, and before the first one, it is the start of a bundle, and rows go one by one: these
 * tables began before entries were removed by age.
 */
export function planFirst(
  partitions: readonly number[],
  size: number,
  { from, first }: Range,
): number {
  const start = partitions.findLast((one) => one <= first);
  const newest = partitions.findLast((one) => one < size);
  const isWhole = start !== undefined && start !== newest;
  return Math.max(from, isWhole ? start : Math.floor(first / TILE_WIDTH) * TILE_WIDTH);
}

/**
 * Removes the entries before `first`. Their leaf hashes are stored as whole tiles. Appends wait for
 * the transactions that move the first number, not for those that read or drop a table.
 */
export async function removeEntries(
  { withClient }: Connections,
  log: LockedLog,
  { from, first }: Range,
): Promise<void> {
  const { logId } = log;
  const { dropped, others } = await withClient(async (client) => {
    const all = await listPartitions(client, logId);
    const isOver = (at: number): boolean => (all[at + 1] ?? Number.POSITIVE_INFINITY) <= first;
    const named = all.map((one, at) => ({ name: partitionName(logId, one), isOver: isOver(at) }));
    for (let start = from; start < first; start += HASHED_ROWS) {
      await client.query(KEEP_LEAVES, [logId, start, Math.min(first, start + HASHED_ROWS)]);
    }
    return {
      dropped: named.filter((one) => one.isOver).map(({ name }) => name),
      others: named.filter((one) => !one.isOver).map(({ name }) => name),
    };
  });
  for (let start = from; start < first;) {
    const end = Math.min(first, start + REMOVED_ROWS);
    await withClient(async (client) => {
      await lockLog(client, log, "strict");
      for (const table of ["ONLY countersign_entries", ...others]) {
        const sql = `DELETE FROM ${table} WHERE log_id = $1 AND seq >= $2 AND seq < $3`;
        await client.query(sql, [logId, start, end]);
      }
      await client.query(MOVE_FIRST, [logId, end]);
      await removeSpans(client, logId, end);
      await client.query("COMMIT");
    });
    start = end;
  }
  for (const name of dropped) {
    if (await isDropped({ withClient }, name, first)) continue;
    // A query has been reading the table for long: its rows go, and the table with the next removal.
    for (let end = from; end < first;) {
      end = Math.min(first, end + HASHED_ROWS);
      const sql = `DELETE FROM ${name} WHERE seq < $1`;
      await withClient((client) => client.query(sql, [end]));
    }
  }
}

/** Drops a table whose entries are removed; false while queries read it. */
async function isDropped(
  { withClient }: Pick<Connections, "withClient">,
  name: string,
  first: number,
): Promise<boolean> {
  for (let attempt = 0; attempt < DROPS; attempt += 1) {
    const drop = withClient(async (client) => {
      await client.query("BEGIN; SET LOCAL lock_timeout = '1s'");
      // Damage may have put younger entries here.
      const { rows } = await client.query(`SELECT FROM ${name} WHERE seq >= $1 LIMIT 1`, [first]);
      if (rows.length === 0) await client.query(`DROP TABLE ${name}`);
      await client.query("COMMIT");
      return true;
    });
    const isDone = await drop.catch((error: unknown) => {
      const { code } = error as { code?: string };
      if (code === LOCK_NOT_AVAILABLE) return false;
      // Another gateway has dropped it.
      if (code === UNDEFINED_TABLE) return true;
      throw error;
    });
    if (isDone) return true;
  }
  return false;
}
