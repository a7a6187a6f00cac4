import { isCountersignError } from "@countersign/core";
import { migrate, openConnections } from "@countersign/receipts/postgres";
import type { ConnectionOptions, Migration } from "@countersign/receipts/postgres";
import type { PoolClient } from "pg";
import { MIGRATIONS } from "./migrations.js";

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
    } catch (error) {
      throw isCountersignError(error) ? error : failure();
    }
  };
  return {
    inTransaction: (work) => lend((client) => runTransaction(client, work)),
    query: (sql, values) => lend(async (client) => (await client.query(sql, [...values])).rows),
    close,
  };
}

async function runTransaction<Value>(
  client: PoolClient,
  work: (client: PoolClient) => Promise<Value>,
): Promise<Value> {
  await client.query(BEGIN);
  const value = await work(client);
  await client.query("COMMIT");
  return value;
}

/** The tables that a store needs: those of the gateway unless others are named. */
type Tables = { readonly area: string; readonly migrations: readonly Migration[] };
const GATEWAY: Tables = { area: "gateway", migrations: MIGRATIONS };

/** Connects, and brings the tables up to date. */
export async function openTables({
  tables = GATEWAY,
  ...options
}: ConnectOptions & { readonly tables?: Tables }): Promise<Connections> {
  const { withClient, close } = openConnections(options);
  try {
    await migrate({
      ...tables,
      inTransaction: (work) => withClient((client) => runTransaction(client, work)),
    });
  } catch (error) {
    throw isCountersignError(error) ? error : options.failure();
  } finally {
    await close();
  }
  return connect(options);
}
