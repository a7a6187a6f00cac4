import type { Server } from "node:net";

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
