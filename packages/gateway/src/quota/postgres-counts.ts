import { CountersignError, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Clock } from "../base/ports.js";
import { openTables } from "../store/postgres/connect.js";
import { encodeText } from "../store/stored-text.js";
import { KEEP_SECONDS } from "./token-budgets.js";
import type { CountKind, CountStore } from "./count-store.js";
import "../base/errors.js";

/** Options of {@link openPostgresCounts}. */
export type PostgresCountsOptions = {
  readonly url: string;
  /** The name of the log. Gateways with the same name share counts. */
  readonly name: string;
  /** The name of this gateway. */
  readonly gateway: string;
  /** The clock by which tokens expire. */
  readonly clock: Clock;
  /** Query timeout in milliseconds; 2,000 by default. */
  readonly answerMs?: number;
};

const ANSWER_MS = 2000;
// The database's clock, because the clocks of gateways differ.
const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** A table of counts: how its columns become a row as JSON, and back. */
type SqlCountTable = {
  readonly table: string;
  readonly key: string;
  /** The columns after `log` and the key, and their values before the first request. */
  readonly columns: string;
  readonly initial: string;
  /** The row as JSON, empty before the first request. */
  readonly read: string;
  /** Writes `told.row`. */
  readonly write: string;
  /** The condition of rows that no request can need, at this time of the gateway. */
  old(now: number): string;
  unavailable(): Error;
};

const TABLES: Record<CountKind["rows"], SqlCountTable> = {
  velocity: {
    table: "countersign_velocity",
    key: "key",
    columns: "count, empty_at",
    initial: `'', ${NOW} + 60000`,
    read: `CASE count WHEN '' THEN '' ELSE json_build_object('count', count::json, 'emptyAt', empty_at)::text END`,
    write: "count = told.row->>'count', empty_at = ceil((told.row->>'emptyAt')::numeric)",
    old: () => `empty_at < ${NOW}`,
    unavailable: () =>
      new CountersignError(
        "ERR_VELOCITY_UNAVAILABLE",
        "the database for velocity counts did not respond",
        {},
      ),
  },
  // Older gateways read and write `taken` and `opened`, and set `given`.
  budget: {
    table: "countersign_budgets",
    key: "capability_id",
    columns: "taken, given, opened, expires_at",
    // Not old before its first request is written.
    initial: "0, 0, 0, 9007199254740991",
    read: `CASE WHEN taken = 0 AND opened = 0 THEN '' ELSE json_build_object(
      'taken', taken, 'opened', opened, 'leases', leases::json, 'expiresAt', expires_at)::text END`,
    write: `taken = (told.row->>'taken')::bigint, opened = (told.row->>'opened')::bigint,
      leases = told.row->>'leases', expires_at = (told.row->>'expiresAt')::bigint`,
    old: (now) => `expires_at < ${Math.floor(now / 1000) - KEEP_SECONDS}`,
    unavailable: () =>
      new CountersignError(
        "ERR_BUDGETS_UNAVAILABLE",
        "the database for capability budgets did not respond",
        {},
      ),
  },
};

type Row = { readonly key: string; readonly row: string; readonly now: string };

/** Opens the counts in the database of the receipts. */
export async function openPostgresCounts(
  { rows: kind, grant }: CountKind,
  { url, name, gateway, clock, answerMs = ANSWER_MS }: PostgresCountsOptions,
): Promise<CountStore> {
  const { table, key, columns, initial, read, write, old, unavailable } = TABLES[kind];
  // One statement, because an event waits for each round trip. Sorted, so that gateways do not deadlock. Durable
  // regardless of the server's default: a grant in use must survive a crash.
  const openRows = `INSERT INTO ${table} AS kept (log, ${key}, ${columns})
    SELECT $1, key, ${initial} FROM unnest($2::text[]) AS asked(key) ORDER BY key
    ON CONFLICT (log, ${key}) DO UPDATE SET ${key} = kept.${key}
    RETURNING ${key} AS key, ${read} AS row, ${NOW} AS now, set_config('synchronous_commit', 'on', true)`;
  const writeRows = `UPDATE ${table} AS kept SET ${write}
    FROM (SELECT key, row::json FROM unnest($2::text[], $3::text[]) AS sent(key, row)) AS told
    WHERE kept.log = $1 AND kept.${key} = told.key`;
  // SKIP LOCKED: a row in use will not stay old, and waiting for rows in another order could deadlock.
  const removeOld = (): string => `DELETE FROM ${table} WHERE log = $1 AND ${key} IN (
    SELECT ${key} FROM ${table} WHERE log = $1 AND ${old(clock.now())} FOR UPDATE SKIP LOCKED)`;

  const database = await openTables({ url, connections: 2, answerMs, failure: unavailable });
  const sweep = async (): Promise<void> => {
    await database.query(removeOld(), [name]);
  };
  try {
    await sweep();
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    exchange: (requests) =>
      database.inTransaction(async (client) => {
        const keys = requests.map((request) => encodeText(request.key));
        const { rows } = await client.query(openRows, [name, keys]);
        const found = new Map((rows as Row[]).map((row) => [row.key, row]));
        const written: string[] = [];
        const results = requests.map((request, index) => {
          const { row: text, now } = found.get(keys[index] ?? "") as Row;
          const before = text === "" ? undefined : (parseJson(text) as JsonObject);
          const { row, result } = grant(before, request, gateway, Number(now));
          written.push(JSON.stringify(row));
          return result;
        });
        await client.query(writeRows, [name, keys, written]);
        return results;
      }),
    sweep,
    close: () => database.close(),
  };
}

const LIVE = `SELECT 1 FROM countersign_velocity WHERE log = $1 AND empty_at >= ${NOW} LIMIT 1`;

/** True when the database has counts of velocity caps that are not empty. */
export async function hasPostgresVelocity({
  url,
  name,
  answerMs = ANSWER_MS,
}: Pick<PostgresCountsOptions, "url" | "name" | "answerMs">): Promise<boolean> {
  const { unavailable } = TABLES.velocity;
  const database = await openTables({ url, connections: 1, answerMs, failure: unavailable });
  try {
    return (await database.query(LIVE, [name])).length > 0;
  } finally {
    await database.close();
  }
}
