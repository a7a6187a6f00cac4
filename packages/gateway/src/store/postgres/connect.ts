import { openConnections } from "@countersign/receipts/postgres";
import type { ConnectionOptions } from "@countersign/receipts/postgres";
import type { PoolClient } from "pg";
import { migrate } from "./migrations.js";
import type { Migration } from "./migrations.js";

/** Connections to a database, which may be unavailable for a time. */
export type Connections = {
  /** Runs the work in one transaction. */
  inTransaction<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value>;
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** Options of {@link connect}. */
export type ConnectOptions = Omit<ConnectionOptions, "readOnly"> & {
  /** Creates the error thrown instead of the driver's, whose message may name a host or a value. */
  failure(): Error;
};

// PostgreSQL rolls back the transaction of a frozen gateway, so that it does not block others on the same rows.
const BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'";

/** Opens no connection yet: each is made when it is needed. */
export function connect({ failure, ...options }: ConnectOptions): Connections {
  const { withClient, close } = openConnections(options);
  const lend: typeof withClient = async (work) => {
    try {
      return await withClient(work);
    } catch {
      throw failure();
    }
  };
  return {
    inTransaction: (work) =>
      lend(async (client) => {
        await client.query(BEGIN);
        const value = await work(client);
        await client.query("COMMIT");
        return value;
      }),
    query: (sql, values) => lend(async (client) => (await client.query(sql, [...values])).rows),
    close,
  };
}

/** Connects, and brings the tables up to date: those of the gateway unless others are named. */
export async function openTables({
  migrations,
  ...options
}: ConnectOptions & { readonly migrations?: readonly Migration[] }): Promise<Connections> {
  const database = connect(options);
  try {
    await database.inTransaction((client) => migrate(client, migrations));
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
