import { CountersignError } from "@countersign/core";
import "../store/errors.js";
import type { Connections } from "./connections.js";
import { ADDED_COLUMNS, PG_SCHEMA } from "./schema.js";

// Two gateways that start together must not both create the tables.
const SCHEMA_LOCK = 7_301_990_245;

/** The id of a log by its name; creates the tables and the log if they are missing. */
export function prepareLog({ withClient }: Connections, name: string): Promise<number> {
  return withClient(async (client) => {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    await client.query(PG_SCHEMA);
    await client.query("INSERT INTO countersign_logs (name) VALUES ($1) ON CONFLICT DO NOTHING", [
      name,
    ]);
    const { rows } = await client.query("SELECT log_id FROM countersign_logs WHERE name = $1", [
      name,
    ]);
    await client.query("COMMIT");
    return Number((rows as { log_id: number }[])[0]?.log_id);
  });
}

/**
 * The table of entries, for a reader that must not change a database of an older version: columns that it lacks are
 * NULL.
 */
export function findEntries({ withClient }: Connections): Promise<string> {
  return withClient(async (client) => {
    const { rows } = await client.query(
      "SELECT attname FROM pg_attribute WHERE attrelid = 'countersign_entries'::regclass AND attname = ANY($1)",
      [ADDED_COLUMNS],
    );
    const found = new Set((rows as { attname: string }[]).map((row) => row.attname));
    const missing = ADDED_COLUMNS.filter((column) => !found.has(column));
    if (missing.length === 0) return ENTRIES;
    const nulls = missing.map((column) => `NULL::text AS ${column}`).join(", ");
    return `(SELECT *, ${nulls} FROM ${ENTRIES}) AS ${ENTRIES}`;
  });
}

/** The table of entries in a database that a writer of this version has opened. */
export const ENTRIES = "countersign_entries";

/**
 * Finds a log without changing anything.
 * @throws CountersignError `ERR_STORE_ABSENT` when it does not exist
 */
export function findLog({ withClient }: Connections, name: string): Promise<number> {
  return withClient(async (client) => {
    const found = await client.query("SELECT to_regclass('countersign_logs') IS NOT NULL AS there");
    const isThere = (found.rows as { there: boolean }[])[0]?.there === true;
    const { rows } = isThere
      ? await client.query("SELECT log_id FROM countersign_logs WHERE name = $1", [name])
      : { rows: [] };
    const row = (rows as { log_id: number }[])[0];
    if (row !== undefined) return Number(row.log_id);
    throw new CountersignError("ERR_STORE_ABSENT", `the database holds no log named ${name}`, {
      log: name,
    });
  });
}
