import { Socket } from "node:net";
import { Pool } from "pg";
import type { PoolClient } from "pg";

/** Options of {@link openConnections}. */
export type ConnectionOptions = {
  readonly url: string;
  /** Connections at most. */
  readonly connections: number;
  /** Milliseconds that one answer may take; as long as it likes when left out. */
  readonly answerMs?: number;
  /** The server itself refuses what a reader must not do. */
  readonly readOnly?: boolean;
  /** Told when the database fell silent. */
  readonly onSilence?: () => void;
};

/** Connections to a database that may go away, fall silent and come back. */
export type Connections = {
  /** Lends a connection; when the work fails it is ended, which settles its transaction on the server. */
  withClient<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value>;
  /** Ends every connection there is, and fails what is under way on it; the next are made anew. */
  hangUp(): void;
  close(): Promise<void>;
};

/** Milliseconds until a connection must be there. */
const CONNECT_MS = 10_000;
/** Milliseconds between two questions whether a silent database speaks again. */
const PROBE_MS = 1000;
/** Milliseconds that closing waits for what is under way. */
const CLOSE_MS = 5000;

/**
 * Opens no connection yet: each is made when it is needed.
 *
 * A database that let `answerMs` pass is not waited for again: everybody is told at once, until it has answered a
 * question of ours. Otherwise each step of each request would wait as long as the first.
 */
export function openConnections(options: ConnectionOptions): Connections {
  const { answerMs, readOnly } = options;
  const sockets = new Set<Socket>();
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const pool = new Pool({
    connectionString: options.url,
    max: options.connections,
    connectionTimeoutMillis: Math.min(CONNECT_MS, answerMs ?? CONNECT_MS),
    keepAlive: true,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    ...(answerMs === undefined ? {} : { query_timeout: answerMs }),
    ...(readOnly === true ? { options: "-c default_transaction_read_only=on" } : {}),
  });
  // An idle connection that breaks is replaced by the pool; the next call meets the cause itself.
  pool.on("error", () => undefined);
  // A connection in use reports its end twice: to the query, and as an event that would end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));

  let isSilent = false;
  let isClosed = false;
  const probe = async (): Promise<void> => {
    try {
      await pool.query("SELECT 1");
      isSilent = false;
    } catch {
      if (!isClosed) setTimeout(() => void probe(), PROBE_MS).unref();
    }
  };
  const noteSilence = (milliseconds: number): void => {
    if (isSilent || answerMs === undefined || milliseconds < answerMs) return;
    isSilent = true;
    void probe();
    options.onSilence?.();
  };

  return {
    hangUp,
    async withClient(work) {
      if (isSilent) throw new Error("the database does not answer");
      const began = performance.now();
      let client: PoolClient | undefined;
      try {
        client = await pool.connect();
        const value = await work(client);
        client.release();
        return value;
      } catch (error) {
        client?.release(true);
        noteSilence(performance.now() - began);
        throw error;
      }
    },
    async close() {
      isClosed = true;
      const ended = pool.end();
      // Its goodbye would not come either.
      if (isSilent) return hangUp();
      const timer = setTimeout(hangUp, CLOSE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
