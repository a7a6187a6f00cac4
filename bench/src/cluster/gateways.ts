import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startPostgres, startRedis } from "@countersign/testkit";
import { startCountersign } from "../gateway/countersign.js";
import type { Place, Running } from "../gateway/variant.js";
import { serverMicroseconds } from "../postgres/server-time.js";

/** Gateways that share a database, and Redis if this version uses it. */
export type Cluster = {
  readonly running: Running;
  readonly ports: readonly number[];
  readonly hasRedis: boolean;
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
  const cluster = redis === undefined ? "" : `cluster: { redis: "${redis.url}" }\n`;
  const gateways: Running[] = [];
  for (let index = 0; index < options.gateways; index += 1) {
    gateways.push(await startCountersign(placeOf(`gateway-${index}`, LIMITS + cluster)));
  }
  const [first] = gateways;
  if (first === undefined) throw new TypeError("a cluster has a gateway");
  const ports = gateways.map(({ target }) => target.port);
  return {
    ports,
    hasRedis: options.redis,
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
