import { Socket } from "node:net";
import { Pool } from "pg";
import type { PoolClient } from "pg";

/** Options of {@link openConnections}. */
export type ConnectionOptions = {
  readonly url: string;
  /** Maximum number of connections. */
  readonly connections: number;
  /** Milliseconds that one query may take; unlimited by default. */
  readonly answerMs?: number;
  /** The server rejects writes. */
  readonly readOnly?: boolean;
  /** Called when the database stops responding. */
  readonly onUnresponsive?: () => void;
};

/** Connections to a database that may fail, stop responding and recover. */
export type Connections = {
  /**
   * Lends a connection. If the work fails the connection is closed, which ends its transaction on
   * the server.
   */
  withClient<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value>;
  /** Closes every connection and fails the work in progress; later ones reconnect. */
  destroyAll(): void;
  close(): Promise<void>;
};

/** Maximum milliseconds to connect. */
const CONNECT_MS = 10_000;
/** Milliseconds between two probes of a database that does not respond. */
const PROBE_MS = 1000;
/** Milliseconds that closing waits for work in progress. */
const CLOSE_MS = 5000;

/**
 * Opens no connection yet: each is opened when needed.
 *
 * After one query exceeded `answerMs`, every call fails at once until a probe succeeds. Otherwise
 * each step of each request would wait as long as the first.
 */
export function openConnections(options: ConnectionOptions): Connections {
  const { answerMs, readOnly } = options;
  const sockets = new Set<Socket>();
  const destroyAll = (): void => {
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
  // The pool replaces an idle connection that breaks; the next call sees the error itself.
  pool.on("error", () => undefined);
  // A connection in use reports its end twice: to the query, and as an event that would end the
  // process.
  pool.on("connect", (client) => client.on("error", () => undefined));

  let isUnresponsive = false;
  let isClosed = false;
  const probe = async (): Promise<void> => {
    try {
      await pool.query("SELECT 1");
      isUnresponsive = false;
    } catch {
      if (!isClosed) setTimeout(() => void probe(), PROBE_MS).unref();
    }
  };
  const checkResponsive = (milliseconds: number): void => {
    if (isUnresponsive || answerMs === undefined || milliseconds < answerMs) return;
    isUnresponsive = true;
    void probe();
    options.onUnresponsive?.();
  };

  return {
    destroyAll,
    async withClient(work) {
      if (isUnresponsive) throw new Error("the database does not answer");
      const began = performance.now();
      let client: PoolClient | undefined;
      try {
        client = await pool.connect();
        const value = await work(client);
        client.release();
        return value;
      } catch (error) {
        client?.release(true);
        checkResponsive(performance.now() - began);
        throw error;
      }
    },
    async close() {
      isClosed = true;
      const ended = pool.end();
      // A graceful shutdown would not be answered either.
      if (isUnresponsive) return destroyAll();
      const timer = setTimeout(destroyAll, CLOSE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
