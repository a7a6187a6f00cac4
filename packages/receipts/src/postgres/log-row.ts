import { CountersignError } from "@countersign/core";
import "../store/errors.js";
import type { Connections } from "./connections.js";
import { migrate, readVersion } from "./migrate.js";
import { partitionName, planPartition } from "./partitions.js";
import { HAS_OLD_COLUMNS, LOG_MIGRATIONS } from "./schema.js";

/** A log of the database. */
export type FoundLog = {
  readonly logId: number;
  /** An older version has created the tables or appended entries, and they are not converted. */
  readonly isOlder: boolean;
};

/** Finds a log by its name; creates the tables and the log if they are missing. */
export async function prepareLog({ withClient }: Connections, name: string): Promise<FoundLog> {
  await migrate({
    area: "log",
    migrations: LOG_MIGRATIONS,
    inTransaction: (work) =>
      withClient(async (client) => {
        await client.query("BEGIN");
        const value = await work(client);
        await client.query("COMMIT");
        return value;
      }),
  });
  const found = await withClient(async (client) => {
    // The condition first: a conflict would wait for the append of another gateway.
    await client.query(
      "INSERT INTO countersign_logs (name) SELECT $1 WHERE NOT EXISTS (SELECT FROM countersign_logs WHERE name = $1) ON CONFLICT DO NOTHING",
      [name],
    );
    type Row = { log_id: number; part: string; next_part: string; older: boolean };
    const { rows } = await client.query<Row>(
      `SELECT log_id, part, next_part, indexed < size OR ${HAS_OLD_COLUMNS} AS older FROM countersign_logs WHERE name = $1`,
      [name],
    );
    const row = rows[0] as Row;
    const logId = Number(row.log_id);
    for (const column of ["part", "next_part"] as const) {
      // A table that an operator lost is not written to again.
      await client.query(
        `UPDATE countersign_logs SET ${column} = -1 WHERE log_id = $1 AND ${column} = $2 AND $2 >= 0 AND to_regclass($3) IS NULL`,
        [logId, row[column], partitionName(logId, Number(row[column]))],
      );
    }
    return { logId, isOlder: row.older };
  });
  // Without a partition the entries go to the parent table; an append tries again.
  await withClient((client) => planPartition(client, found.logId)).catch(() => undefined);
  return found;
}

/**
 * Finds a log without changing anything.
 * @throws CountersignError `ERR_STORE_ABSENT` when it does not exist
 */
export function findLog({ withClient }: Connections, name: string): Promise<FoundLog> {
  return withClient(async (client) => {
    await readVersion(client, "log", LOG_MIGRATIONS);
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
