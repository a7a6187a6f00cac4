import { CountersignError } from "@countersign/core";
import "../store/errors.js";
import type { Connections } from "./connections.js";
import { HAS_OLD_COLUMNS, PG_SCHEMA } from "./schema.js";

// Two gateways that start together must not both create the tables.
const SCHEMA_LOCK = 7_301_990_245;

/** A log of the database. */
export type FoundLog = {
  readonly logId: number;
  /** An older version has created the tables or appended entries, and they are not converted. */
  readonly isOlder: boolean;
};

/** Finds a log by its name; creates the tables and the log if they are missing. */
export function prepareLog({ withClient }: Connections, name: string): Promise<FoundLog> {
  return withClient(async (client) => {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    await client.query(PG_SCHEMA);
    await client.query("INSERT INTO countersign_logs (name) VALUES ($1) ON CONFLICT DO NOTHING", [
      name,
    ]);
    const { rows } = await client.query<{ log_id: number; older: boolean }>(
      `SELECT log_id, indexed < size OR ${HAS_OLD_COLUMNS} AS older FROM countersign_logs WHERE name = $1`,
      [name],
    );
    await client.query("COMMIT");
    return { logId: Number(rows[0]?.log_id), isOlder: rows[0]?.older === true };
  });
}

/**
 * Finds a log without changing anything.
 * @throws CountersignError `ERR_STORE_ABSENT` when it does not exist
 */
export function findLog({ withClient }: Connections, name: string): Promise<FoundLog> {
  return withClient(async (client) => {
    const found = await client.query("SELECT to_regclass('countersign_logs') IS NOT NULL AS there");
    const isThere = (found.rows as { there: boolean }[])[0]?.there === true;
    const { rows } = isThere
      ? await client.query("SELECT log_id FROM countersign_logs WHERE name = $1", [name])
      : { rows: [] };
    const row = (rows as { log_id: number }[])[0];
    if (row !== undefined) return { logId: Number(row.log_id), isOlder: false };
    throw new CountersignError("ERR_STORE_ABSENT", `the database holds no log named ${name}`, {
      log: name,
    });
  });
}
