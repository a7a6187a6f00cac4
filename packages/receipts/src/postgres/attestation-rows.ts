import type { PoolClient } from "pg";
import type { ChangeText } from "../store/store.js";

/** No row is changed while another holder has the lease. */
const LEASE = `
INSERT INTO countersign_attestations AS own (log_id, holder, held_until)
VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT (log_id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE own.holder IS NULL OR own.holder = excluded.holder OR own.held_until < clock_timestamp()`;

/** A gateway that froze in a transaction must not hold up the others. */
const BEGIN =
  "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '8s'";

/** Takes or extends the lease; returns whether this holder has it. */
export async function leaseAttesting(
  client: PoolClient,
  logId: number,
  holder: string,
  ms: number,
): Promise<boolean> {
  await client.query(BEGIN);
  const { rowCount } = await client.query(LEASE, [logId, holder, ms]);
  await client.query("COMMIT");
  return rowCount === 1;
}

type AttestationRow = { readonly record: string | null };

/** The attestations of a log; a database of an older version has no table for them. */
export async function readAttestations(
  client: PoolClient,
  logId: number,
): Promise<string | undefined> {
  const found = await client.query<{ there: boolean }>(
    "SELECT to_regclass('countersign_attestations') IS NOT NULL AS there",
  );
  if (found.rows[0]?.there !== true) return undefined;
  const { rows } = await client.query<AttestationRow>(
    "SELECT record FROM countersign_attestations WHERE log_id = $1",
    [logId],
  );
  return rows[0]?.record ?? undefined;
}

/** Changes the attestations while no other gateway can. */
export async function updateAttestations(
  client: PoolClient,
  logId: number,
  change: ChangeText,
): Promise<void> {
  await client.query(BEGIN);
  await client.query(
    "INSERT INTO countersign_attestations (log_id) VALUES ($1) ON CONFLICT DO NOTHING",
    [logId],
  );
  const { rows } = await client.query<AttestationRow>(
    "SELECT record FROM countersign_attestations WHERE log_id = $1 FOR UPDATE",
    [logId],
  );
  const text = await change(rows[0]?.record ?? undefined);
  if (text !== undefined) {
    await client.query("UPDATE countersign_attestations SET record = $2 WHERE log_id = $1", [
      logId,
      text,
    ]);
  }
  await client.query("COMMIT");
}
