import type { Connections } from "./connect.js";

/** Threads removed in one transaction: it must end long before the query timeout. */
const FORGET_AT_ONCE = 200;

// SKIP LOCKED: a thread that is being written is not old, and one that another gateway removes
// needs no second removal.
const FORGET_THREADS = `WITH old AS MATERIALIZED (
    SELECT ledger, thread FROM countersign_threads WHERE ledger = $1 AND written_at < $2
    ORDER BY written_at LIMIT ${FORGET_AT_ONCE} FOR UPDATE SKIP LOCKED)
  DELETE FROM countersign_threads WHERE (ledger, thread) IN (SELECT ledger, thread FROM old)
  RETURNING thread`;
const FORGET_FACTS = "DELETE FROM countersign_facts WHERE ledger = $1 AND thread = ANY($2)";

/**
 * Removes a ledger's threads that were last written before this time; resolves with their number.
 */
export async function forgetThreads(
  { inTransaction }: Pick<Connections, "inTransaction">,
  ledger: string,
  before: number,
): Promise<number> {
  let all = 0;
  for (;;) {
    const count = await inTransaction(async (client) => {
      const old = await client.query<{ thread: string }>(FORGET_THREADS, [ledger, before]);
      const threads = old.rows.map(({ thread }) => thread);
      if (threads.length > 0) await client.query(FORGET_FACTS, [ledger, threads]);
      return threads.length;
    });
    all += count;
    if (count < FORGET_AT_ONCE) return all;
  }
}
