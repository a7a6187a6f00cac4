import { readFileSync } from "node:fs";
import { Cluster, Redis } from "ioredis";
import type { RedisOptions as ClientOptions } from "ioredis";
import type { RedisOptions } from "./redis-options.js";

/** A client of one server, of the primary behind Sentinel, or of a Cluster. */
export type RedisClient = Redis | Cluster;

const CONNECT_MS = 2000;
const MAX_RETRY_MS = 1000;

/** The pause before the next attempt to connect: 50 ms at first, at most a second. */
export function retryDelay(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 10), MAX_RETRY_MS);
}

/** A replica that was a primary, or a server that only starts: a new connection finds the primary. */
function isLostPrimary({ message }: Error): boolean {
  return /^(?:READONLY|MASTERDOWN|LOADING)\b/u.test(message);
}

function tlsOf({ tls }: RedisOptions): Pick<ClientOptions, "tls"> {
  if (tls === undefined) return {};
  const read = (file: string | undefined): Buffer | undefined =>
    file === undefined ? undefined : readFileSync(file);
  return { tls: { ca: read(tls.ca), cert: read(tls.cert), key: read(tls.key) } };
}

/** Options of all connections. No command waits or is repeated, because a script is not idempotent. */
function commonOptions(options: RedisOptions, answerMs: number) {
  const { username, password } = options;
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...tlsOf(options),
    connectTimeout: CONNECT_MS,
    disconnectTimeout: 100,
    commandTimeout: answerMs,
    // A connection that is cut without an end shows only by the missing response.
    socketTimeout: 2 * answerMs,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    connectionName: "countersign",
    protocol: 2,
  } satisfies ClientOptions;
}

/** Creates the client for commands. It connects when told to, and reconnects by itself. */
export function createCommandClient(options: RedisOptions, answerMs: number): RedisClient {
  const { kind, addresses } = options;
  const common = commonOptions(options, answerMs);
  if (kind === "cluster") {
    return new Cluster(addresses as { host: string; port: number }[], {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: CONNECT_MS,
      // Without this, a node that takes over slots is found only by a redirection.
      slotsRefreshInterval: 5000,
      redisOptions: common,
    });
  }
  return new Redis({
    ...common,
    ...placeOf(options),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retryDelay,
    reconnectOnError: isLostPrimary,
  });
}

/**
 * Creates a client for subscriptions, which makes one attempt to connect. Each node of a Cluster gets all messages;
 * `attempt` selects the next one.
 */
export function createSubscriberClient(
  options: RedisOptions,
  answerMs: number,
  attempt: number,
): Redis {
  const { kind, addresses } = options;
  const node = addresses[attempt % addresses.length];
  return new Redis({
    ...commonOptions(options, answerMs),
    ...(kind === "cluster" ? node : placeOf(options)),
    lazyConnect: true,
    retryStrategy: null,
    sentinelRetryStrategy: () => null,
    autoResubscribe: false,
    // Answers nothing between two messages; pings show whether it lives.
    enableReadyCheck: false,
  });
}

/** The address of one server, or how Sentinel is asked for the primary. */
function placeOf(options: RedisOptions) {
  const { addresses, sentinel, database: db } = options;
  if (sentinel === undefined) return { ...addresses[0], db };
  const { name, username, password } = sentinel;
  const tls = tlsOf(options);
  return {
    db,
    sentinels: addresses.map(({ host, port }) => ({ host, port })),
    name,
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(tls.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls.tls }),
    sentinelRetryStrategy: retryDelay,
    sentinelCommandTimeout: CONNECT_MS,
    // Sentinel announces a new primary; without this, only a cut connection would tell.
    failoverDetector: true,
  } satisfies ClientOptions;
}
