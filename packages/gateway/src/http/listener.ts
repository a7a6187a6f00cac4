import type { Server as HttpServer } from "node:http";
import type { Server, Socket } from "node:net";

/** A listener that can be closed. */
export type ClosableListener = {
  readonly server: Server;
  /** Stops listening, closes the open connections, and resolves when all are closed. */
  close(): Promise<void>;
};

const GRACE_MS = 200;

/** Stops listening, and destroys connections that are still open after a short grace period. */
export function closeListener(server: Server, connections: () => Iterable<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      clearTimeout(grace);
      resolve();
    });
    if ("closeIdleConnections" in server) (server as HttpServer).closeIdleConnections();
    // Referenced: the close may wait for a connection whose handle is gone, and no other handle would keep the
    // process alive until its ledger and log are closed.
    const grace = setTimeout(() => {
      for (const socket of connections()) socket.destroy();
    }, GRACE_MS);
  });
}

/**
 * Connections that may wait to be accepted; with Node's 511, thousands of clients that reconnected at once were
 * refused.
 */
const BACKLOG = 4096;

/** Binds a server. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
