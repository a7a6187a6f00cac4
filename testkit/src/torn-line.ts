import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A way to a server whose connections can break, as they do in a network. */
export type TornLine = {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Connections made so far. */
  readonly connections: () => number;
  /** Tears every connection there is; both ends hear of it. Not by resets: a worker thread with half-closed ones never ends. */
  tear(): void;
  /** Lets go of every client; the server hears nothing, and believes that they are there. */
  freeze(): void;
  /** Routes no new connection to this server; open ones stay. */
  takeOut(port: number): void;
  stop(): Promise<void>;
};

/**
 * Starts one in front of a server on this machine. In front of several it is a load balancer without stickiness: each
 * connection goes to the next.
 */
export async function startTornLine(...ports: readonly number[]): Promise<TornLine> {
  const inTurn = [...ports];
  const pairs = new Set<readonly [near: Socket, far: Socket]>();
  const frozen = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const port = inTurn.shift() as number;
    inTurn.push(port);
    const far = connect(port, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = (): void => {
      if (!pairs.delete(pair)) return;
      near.destroy();
      far.destroy();
    };
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.on("close", end);
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const tear = (): void => {
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    tear,
    freeze: () => {
      for (const pair of pairs) {
        const [near, far] = pair;
        pairs.delete(pair);
        near.unpipe(far);
        far.unpipe(near);
        far.pause();
        frozen.add(far);
        near.destroy();
      }
    },
    takeOut: (port) => void inTurn.splice(inTurn.indexOf(port), 1),
    stop: async () => {
      tear();
      for (const socket of frozen) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
