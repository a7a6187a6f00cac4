import { Pool } from "pg";
import type { PoolClient } from "pg";

/** Connections to a database that may go away and come back. */
export type Connections = {
  /** All of it, or nothing. */
  inTransaction<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value>;
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** Options of {@link connect}. */
export type ConnectOptions = {
  readonly url: string;
  /** Connections at most. */
  readonly connections: number;
  /** How long one answer may take; as long as it likes when left out. */
  readonly answerMs?: number;
  /** What is thrown in place of the driver's own error, whose text may name a host or a value. */
  failure(): Error;
};

const CONNECT_MS = 10_000;

/** Opens no connection yet: each is made when it is needed. */
export function connect(options: ConnectOptions): Connections {
  const { answerMs, failure } = options;
  const pool = new Pool({
    connectionString: options.url,
    max: options.connections,
    connectionTimeoutMillis: Math.min(CONNECT_MS, answerMs ?? CONNECT_MS),
    keepAlive: true,
    ...(answerMs === undefined ? {} : { query_timeout: answerMs }),
  });
  // An idle connection that breaks is replaced by the pool; the next call meets the cause itself.
  pool.on("error", () => undefined);
  // A connection in use reports its end twice: to the query, and as an event that would end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const withClient = async <Value>(
    work: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> => {
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      const value = await work(client);
      client.release();
      return value;
    } catch {
      // Whatever the transaction's state is, ending the connection settles it on the server.
      client?.release(true);
      throw failure();
    }
  };
  return {
    inTransaction: (work) =>
      withClient(async (client) => {
        await client.query("BEGIN");
        const value = await work(client);
        await client.query("COMMIT");
        return value;
      }),
    query: (sql, values) =>
      withClient(async (client) => (await client.query(sql, [...values])).rows),
    close: () => pool.end(),
  };
}
