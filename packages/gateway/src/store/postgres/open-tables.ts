import { connect } from "./connect.js";
import type { Connections, ConnectOptions } from "./connect.js";
import { migrate } from "./migrations.js";

/** Connects, and brings the tables up to date. */
export async function openTables(options: ConnectOptions): Promise<Connections> {
  const database = connect(options);
  try {
    await database.inTransaction(migrate);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
