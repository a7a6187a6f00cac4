import type { PoolClient } from "pg";
import type { Durability } from "../store/store.js";
import type { HeadRow } from "./frontier.js";
import type { Kinds } from "./kinds.js";
import type { PartitionRow } from "./partitions.js";

// A gateway that froze in a transaction is rolled back before the waiting gateways time out.
const WAITING =
  "SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '8s'; SET LOCAL statement_timeout = '30s'";

/** A log, and the kinds that its writer has stored. */
export type LockedLog = { readonly logId: number; readonly kinds: Kinds };

/** The row of a log that is locked for a transaction. */
export type LockedRow = HeadRow &
  Required<PartitionRow> & {
    readonly first_entry: string;
    readonly indexed: string;
    readonly history_bytes: number | null;
  };

/**
 * Begins a transaction that locks the row of the log: the holder of the lock knows the true head,
 * and other writers wait for the commit or the rollback.
 */
export async function lockLog(
  client: PoolClient,
  { logId, kinds }: LockedLog,
  durability: Durability,
): Promise<LockedRow> {
  const commit = durability === "strict" ? "on" : "off";
  const { newest } = kinds;
  const opened = (await client.query(
    `BEGIN; SET LOCAL synchronous_commit = ${commit}; ${WAITING}; SELECT size, frontier, seal, first_entry, indexed, part, next_part, octet_length(key_history) AS history_bytes FROM countersign_logs WHERE log_id = ${logId} FOR UPDATE; SELECT EXISTS (SELECT FROM countersign_kinds WHERE log_id = ${logId} AND kind = ${newest ?? -1}) AS known`,
  )) as unknown as { rows: Record<string, unknown>[] }[];
  const row = opened.at(-2)?.rows[0] as LockedRow | undefined;
  if (row === undefined) throw new Error("the log's row is gone");
  const isKnown = opened.at(-1)?.rows[0]?.["known"] === true;
  kinds.check(isKnown ? newest : undefined, Number(row.first_entry));
  return row;
}
