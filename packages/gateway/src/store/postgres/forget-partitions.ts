import type { Connections } from "./connect.js";

/** Partitions removed in one transaction: it must end long before the query timeout. */
const FORGET_AT_ONCE = 200;

// SKIP LOCKED: a partition that is being written is not old, and one that another gateway removes
// needs no second removal.
const FORGET_PARTITIONS = `WITH old AS MATERIALIZED (
    SELECT ledger, thread FROM countersign_threads WHERE ledger = $1 AND written_at < $2
    ORDER BY written_at LIMIT ${FORGET_AT_ONCE} FOR UPDATE SKIP LOCKED)
  DELETE FROM countersign_threads WHERE (ledger, thread) IN (SELECT ledger, thread FROM old)
  RETURNING thread`;
const FORGET_FACTS = "DELETE FROM countersign_facts WHERE ledger = $1 AND thread = ANY($2)";

/**
 * Removes a store's partitions that were last written before this time; resolves with their number.
 */
export async function forgetPartitions(
  { inTransaction }: Pick<Connections, "inTransaction">,
  name: string,
  before: number,
): Promise<number> {
  let all = 0;
  for (;;) {
    const count = await inTransaction(async (client) => {
      const old = await client.query<{ thread: string }>(FORGET_PARTITIONS, [name, before]);
      const partitions = old.rows.map(({ thread }) => thread);
      if (partitions.length > 0) await client.query(FORGET_FACTS, [name, partitions]);
      return partitions.length;
    });
    all += count;
    if (count < FORGET_AT_ONCE) return all;
  }
}
