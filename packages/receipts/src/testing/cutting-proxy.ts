import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A proxy to the database that can cut a connection in the middle of an exchange. */
export type CuttingProxy = {
  readonly url: string;
  /**
   * Cuts the connection on which the client next sends `word`: before the server receives it
   * (`lost`), or after the server has acted but before the client receives the reply (`persisted`).
   */
  cutAt(word: string, when: "lost" | "persisted"): void;
  close(): Promise<void>;
};

/** Starts a proxy in front of a PostgreSQL server. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port, pathname, username } = new URL(target);
  let cut: { word: string; when: "lost" | "persisted" } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    let deaf = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (cut !== undefined && chunk.includes(cut.word)) {
        const { when } = cut;
        cut = undefined;
        if (when === "lost") {
          client.destroy();
          return;
        }
        deaf = true;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      // The server replied, so it has acted; the reply is dropped.
      if (deaf) client.destroy();
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const own = (server.address() as AddressInfo).port;
  return {
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    cutAt(word, when) {
      cut = { word, when };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
