import { CountersignError } from "@countersign/core";
import { openTables } from "../../store/postgres/open-tables.js";
import { encodeText } from "../../store/text.js";
import type { Clock } from "../../base/ports.js";
import "../../base/errors.js";
import type { BudgetStore } from "./budget-store.js";

/** Options of {@link openPostgresBudgets}. */
export type PostgresBudgetsOptions = {
  readonly url: string;
  /** The name of the log. Gateways with the same name share budgets. */
  readonly name: string;
  readonly clock: Clock;
  /** Query timeout in milliseconds; 2,000 by default. */
  readonly answerMs?: number;
};

const ANSWER_MS = 2000;
/** How long a row outlives its capability, in seconds: clocks differ, and may be corrected. */
const KEEP_SECONDS = 86_400;
// One statement: of two concurrent requests, the second sees the first one's grant. A number too
// large for a bigint is capped by the caller, which grants less and never more.
const TAKE = `INSERT INTO countersign_budgets AS budget VALUES ($1, $2, least($4::bigint, $3::bigint), least($4::bigint, $3::bigint), $5::bigint, $6::bigint)
  ON CONFLICT (log, capability_id) DO UPDATE SET
    given = greatest(0, least($4::bigint, $3::bigint - budget.taken)),
    taken = budget.taken + greatest(0, least($4::bigint, $3::bigint - budget.taken)),
    opened = budget.opened + $5::bigint,
    expires_at = greatest(budget.expires_at, $6::bigint)
  RETURNING given, taken, opened`;
const GIVE_BACK = `UPDATE countersign_budgets AS budget
  SET taken = budget.taken - row.unused, opened = budget.opened + row.opened
  FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS row(id, unused, opened)
  WHERE budget.log = $1 AND budget.capability_id = row.id`;
const FORGET = "DELETE FROM countersign_budgets WHERE log = $1 AND expires_at < $2";

type Row = { readonly given: string; readonly taken: string; readonly opened: string };

/**
 * Opens the table of budgets in the database of the receipts, and creates it when it is missing.
 */
export async function openPostgresBudgets({
  url,
  name,
  clock,
  answerMs = ANSWER_MS,
}: PostgresBudgetsOptions): Promise<BudgetStore> {
  const access = { url, connections: 2, answerMs, failure: unavailable };
  const before = Math.floor(clock.now() / 1000) - KEEP_SECONDS;
  const database = await openTables(access);
  await database.query(FORGET, [name, before]);
  return {
    take: ({ id, maxEvents, wanted, opened, expiresAt }) =>
      database.inTransaction(async (client) => {
        // Regardless of the server's default: a grant in use must survive a crash.
        await client.query("SET LOCAL synchronous_commit = on");
        const counts = [maxEvents, wanted, opened, expiresAt].map(bounded);
        const { rows } = await client.query(TAKE, [name, encodeText(id), ...counts]);
        const row = rows[0] as Row;
        return {
          given: Number(row.given),
          taken: Number(row.taken),
          opened: Number(row.opened),
        };
      }),
    giveBack: async (returned) => {
      await database.query(GIVE_BACK, [
        name,
        returned.map(({ id }) => encodeText(id)),
        returned.map(({ unused }) => unused),
        returned.map(({ opened }) => opened),
      ]);
    },
    close: () => database.close(),
  };
}

/** A Chio token may have an unlimited allowance, or one above the largest integer. */
function bounded(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function unavailable(): CountersignError<"ERR_BUDGETS_UNAVAILABLE"> {
  const message = "the database of capabilities' budgets did not answer";
  return new CountersignError("ERR_BUDGETS_UNAVAILABLE", message, {});
}
