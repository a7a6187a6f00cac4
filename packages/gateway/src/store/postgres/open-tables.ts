import { connect } from "./connect.js";
import type { Connections, ConnectOptions } from "./connect.js";

/** Tables, and the number under which they are made: gateways that start together must not both make them. */
export type Tables = { readonly schema: string; readonly lock: number };

/** Connects, and makes the tables where there are none yet; `prepare` does what else comes before the first question. */
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
