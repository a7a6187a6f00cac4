import { connect } from "./connect.js";
import type { Connections, ConnectOptions } from "./connect.js";

/**
 * A schema, and the advisory lock for its creation: gateways that start together must not both
 * create it.
 */
export type Tables = { readonly schema: string; readonly lock: number };

/** Connects, and creates missing tables; `prepare` runs before the first query. */
export async function openTables(
  options: ConnectOptions,
  { schema, lock }: Tables,
  prepare: (database: Connections) => Promise<unknown> = async () => undefined,
): Promise<Connections> {
  const database = connect(options);
  try {
    await database.inTransaction(async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(${lock})`);
      await client.query(schema);
    });
    await prepare(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
