import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startPostgres, startRedis } from "@countersign/testkit";
import { acceptsLines, startCountersign } from "../gateway/countersign.js";
import type { Place, Running } from "../gateway/variant.js";
import { serverMicroseconds } from "../postgres/server-time.js";

/** Gateways that share a database, and Redis if this version uses it. */
export type Cluster = {
  readonly running: Running;
  readonly ports: readonly number[];
  /** Microseconds of processor time that the database has used so far. */
  databaseMicroseconds(): number;
  /** Compares the log with the events of the agent, and verifies all of it. */
  check(sentEvents: number): void;
  stop(): Promise<void>;
};

/** Options of {@link startCluster}. */
export type ClusterOptions = {
  readonly gateways: number;
  readonly agentPort: number;
  readonly directory: string;
  readonly redis: boolean;
};

const LIMITS = "limits: { reconnect_grace: 30 }\n";

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Starts gateways one after the other: the first one makes the keys and the tables. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { directory, agentPort } = options;
  mkdirSync(directory, { recursive: true });
  const database = await startPostgres({ settings: { fsync: "on", max_wal_size: "4GB" } });
  const redis = options.redis ? await startRedis() : undefined;
  const keys = join(directory, "keys");
  const placeOf = (name: string, lines: string): Place => ({
    agentPort,
    directory: join(directory, name),
    forMemory: false,
    shared: { database: database.url, keys, lines },
  });
  // Streams are resumed at another gateway through Redis, or by versions before it through a relay.
  const cluster = redis === undefined ? "" : `cluster: { redis: "${redis.url}" }\n`;
  const relay = (port: number): string => `fleet: { address: 127.0.0.1, port: ${port} }\n`;
  const hasRelay = acceptsLines(placeOf("relay", LIMITS + cluster + relay(await freePort())));
  const gateways: Running[] = [];
  for (let index = 0; index < options.gateways; index += 1) {
    const lines = LIMITS + cluster + (hasRelay ? relay(await freePort()) : "");
    gateways.push(await startCountersign(placeOf(`gateway-${index}`, lines)));
  }
  const [first] = gateways;
  if (first === undefined) throw new TypeError("a cluster has a gateway");
  const ports = gateways.map(({ target }) => target.port);
  return {
    ports,
    running: {
      ...first,
      target: { ...first.target, further: ports.slice(1) },
      pids: () => gateways.flatMap((gateway) => gateway.pids()),
    },
    databaseMicroseconds: () => serverMicroseconds(database.pid()),
    check: (sentEvents) => void first.check?.(sentEvents, true),
    async stop() {
      for (const gateway of gateways) await gateway.stop();
      await redis?.stop();
      await database.stop();
    },
  };
}
