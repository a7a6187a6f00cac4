import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A way to a server whose connections can be torn, as a network does it: without a word to either side's program. */
export type TornLine = {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Connections made so far. */
  readonly connections: () => number;
  /** Tears every connection there is. */
  tear(): void;
  stop(): Promise<void>;
};

/** Starts one in front of a server on this machine. */
export async function startTornLine(port: number): Promise<TornLine> {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("error", () => undefined);
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const tear = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    tear,
    stop: async () => {
      tear();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
