import { startRedis } from "@countersign/testkit";
import type { FakeScript, RunningRedis } from "@countersign/testkit";
import { RedisStreams } from "../cluster/redis-streams.js";
import { SILENT_JOURNAL } from "../base/ports.js";
import type { GatewayOptions } from "../serve/gateway.js";
import { openRedis } from "../store/redis/open-redis.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import type { RedisOptions } from "../store/redis/redis-options.js";
import { startFixture } from "./fixture.js";
import type { Fixture } from "./fixture.js";

/** The keys that all gateways of a log share. */
export const LINK_KEYS = {
  names: new Uint8Array(32).fill(1),
  frames: new Uint8Array(32).fill(2),
  signals: new Uint8Array(32).fill(3),
};

/** A gateway that shares its streams. */
export type LinkedGateway = Fixture & {
  readonly redis: RedisConnections;
  /** Cuts the gateway off from Redis, as its death would: its clients and agents stay. */
  cutOff(): Promise<void>;
};

/** Gateways on one Redis. */
export type Linked = {
  readonly first: LinkedGateway;
  readonly second: LinkedGateway;
  readonly server: RunningRedis;
  stop(): Promise<void>;
};

/** The options of a Redis for tests. */
export function redisOptionsOf(
  server: Pick<RunningRedis, "host" | "port">,
  changes: Partial<RedisOptions> = {},
): RedisOptions {
  return {
    kind: "server",
    addresses: [{ host: server.host, port: server.port }],
    database: 0,
    prefix: "countersign",
    replicas: 0,
    whenDown: "refuse",
    ...changes,
  };
}

/** Starts a gateway that shares its streams on this Redis. */
export async function startLinkedGateway(
  name: string,
  script: FakeScript,
  options: RedisOptions,
  gateway: Partial<GatewayOptions> = {},
  log = "log",
): Promise<LinkedGateway> {
  const redis = await openRedis({ options, log, journal: SILENT_JOURNAL, answerMs: 1000 });
  const fixture = await startFixture(script, {
    gateway: {
      ...gateway,
      openSharedStreams: (...parts) =>
        new RedisStreams({ redis, gateway: name, keys: LINK_KEYS }, ...parts),
    },
  });
  return {
    ...fixture,
    redis,
    cutOff: () => redis.close(),
    stop: async () => {
      await fixture.stop();
      await redis.close();
    },
  };
}

/** Starts two gateways with the same script, each with its own agent. */
export async function startLinked(
  script: FakeScript,
  gateway: Partial<GatewayOptions> = {},
  running?: RunningRedis,
  changes: Partial<RedisOptions> = {},
): Promise<Linked> {
  const server = running ?? (await startRedis());
  const log = `log-${(logs += 1)}`;
  const start = (name: string): Promise<LinkedGateway> =>
    startLinkedGateway(name, script, redisOptionsOf(server, changes), gateway, log);
  const [first, second] = [await start("first"), await start("second")];
  return {
    first,
    second,
    server,
    stop: async () => {
      await Promise.all([first.stop(), second.stop()]);
      if (running === undefined) await server.stop();
    },
  };
}

let logs = 0;
