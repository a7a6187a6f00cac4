import { canonicalJson } from "@countersign/core";
import type { PoolClient } from "pg";
import type { ForeignFilter, ForeignReceipt } from "../import/foreign.js";
import { planForeign } from "../import/plan.js";

/** Adds receipts of other protocols to a log and returns how many were new. */
export async function insertForeign(
  client: PoolClient,
  logId: number,
  receipts: readonly ForeignReceipt[],
): Promise<number> {
  const column = <Value>(pick: (one: ForeignReceipt) => Value): Value[] => receipts.map(pick);
  const { rowCount } = await client.query(
    "INSERT INTO countersign_foreign SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[]) ON CONFLICT DO NOTHING",
    [
      logId,
      column((one) => one.hash),
      column((one) => one.protocol),
      column((one) => one.id ?? null),
      column((one) => one.session_id ?? null),
      column((one) => one.agent_id ?? null),
      column((one) => one.at ?? null),
      column((one) => one.signer),
      column((one) => canonicalJson(one.receipt)),
    ],
  );
  return rowCount ?? 0;
}

/** The query for receipts of other protocols that match a filter. */
export function selectForeign(
  logId: number,
  filter: ForeignFilter,
): { readonly sql: string; readonly parameters: unknown[] } {
  const { conditions, values, limit } = planForeign(filter);
  const where = conditions.map((name, index) => `${name} = $${index + 2}`).join(" AND ");
  const sql = `SELECT * FROM countersign_foreign WHERE log_id = $1 AND ${where} ORDER BY at NULLS LAST, hash LIMIT ${limit}`;
  return { sql, parameters: [logId, ...values] };
}
