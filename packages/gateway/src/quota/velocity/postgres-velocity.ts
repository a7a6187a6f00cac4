import { CountersignError, parseJson } from "@countersign/core";
import { openTables } from "../../store/postgres/open-tables.js";
import { grantCount, emptyAt } from "./count.js";
import type { VelocityCount } from "./count.js";
import "../../base/errors.js";
import type { VelocityStore } from "./velocity-store.js";

/** Options of {@link openPostgresVelocity}. */
export type PostgresVelocityOptions = {
  readonly url: string;
  /** The name of the log. Gateways with the same name share counts. */
  readonly name: string;
  /** The name of this gateway. */
  readonly gateway: string;
  /** Query timeout in milliseconds; 2,000 by default. */
  readonly answerMs?: number;
};

const ANSWER_MS = 2000;
// The database's clock, because the clocks of gateways differ.
const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
// One statement that creates, locks and reads, because an event waits for each round trip. Sorted,
// so that two gateways that want the same rows do not deadlock. Durable regardless of the server's
// default: a grant in use must survive a crash.
const OPEN = `INSERT INTO countersign_velocity AS kept
  SELECT $1, key, '', ${NOW} + 60000 FROM unnest($2::text[]) AS asked(key) ORDER BY key
  ON CONFLICT (log, key) DO UPDATE SET key = kept.key
  RETURNING key, count, ${NOW} AS now, set_config('synchronous_commit', 'on', true)`;
const PUT = `UPDATE countersign_velocity AS kept SET count = told.count, empty_at = told.empty_at
  FROM unnest($2::text[], $3::text[], $4::bigint[]) AS told(key, count, empty_at)
  WHERE kept.log = $1 AND kept.key = told.key`;
// SKIP LOCKED: a row in use will not stay empty, and waiting for rows in another order could
// deadlock.
const SWEEP = `DELETE FROM countersign_velocity WHERE log = $1 AND key IN (
  SELECT key FROM countersign_velocity WHERE log = $1 AND empty_at < ${NOW} FOR UPDATE SKIP LOCKED)`;

type Row = { readonly key: string; readonly count: string; readonly now: string };

/** Opens the table of counts in the database of the receipts, and creates it when it is missing. */
export async function openPostgresVelocity({
  url,
  name,
  gateway,
  answerMs = ANSWER_MS,
}: PostgresVelocityOptions): Promise<VelocityStore> {
  const access = { url, connections: 2, answerMs, failure: unavailable };
  const database = await openTables(access);
  return {
    exchange: (requests) =>
      database.inTransaction(async (client) => {
        const asked = requests.map(({ key }) => key);
        const { rows } = await client.query(OPEN, [name, asked]);
        const found = new Map((rows as Row[]).map((row) => [row.key, row]));
        const counts: string[] = [];
        const ends: number[] = [];
        const results = requests.map((request) => {
          const row = found.get(request.key) as Row;
          const now = Number(row.now);
          const before =
            row.count === "" ? undefined : (parseJson(row.count) as unknown as VelocityCount);
          const { count, result } = grantCount(before, request, gateway, now);
          counts.push(JSON.stringify(count));
          ends.push(Math.ceil(emptyAt(request.limit, now)));
          return result;
        });
        await client.query(PUT, [name, asked, counts, ends]);
        return results;
      }),
    sweep: async () => {
      await database.query(SWEEP, [name]);
    },
    close: () => database.close(),
  };
}

function unavailable(): CountersignError<"ERR_VELOCITY_UNAVAILABLE"> {
  const message = "the database in which gateways count together did not answer";
  return new CountersignError("ERR_VELOCITY_UNAVAILABLE", message, {});
}
