import type { Server as HttpServer } from "node:http";
import type { Server, Socket } from "node:net";

/** A listener and the way to end what is open on it. */
export type ClosableListener = {
  readonly server: Server;
  /** Stops listening, says goodbye to whoever is connected, and resolves when all are gone. */
  close(): Promise<void>;
};

const GRACE_MS = 200;

/** Stops listening, and cuts what is still connected after a moment for last words. */
export function closeListener(server: Server, connections: () => Iterable<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      clearTimeout(grace);
      resolve();
    });
    if ("closeIdleConnections" in server) (server as HttpServer).closeIdleConnections();
    // Referenced: a connection whose handle is gone may be all that the close waits for, and nothing else would
    // keep the process alive until its ledger and log are closed.
    const grace = setTimeout(() => {
      for (const socket of connections()) socket.destroy();
    }, GRACE_MS);
  });
}
