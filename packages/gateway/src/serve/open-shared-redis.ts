import type { GatewayConfig } from "../config/config.js";
import type { Journal } from "../base/ports.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import { SILENT_JOURNAL } from "../base/ports.js";
import { findEviction } from "../store/redis/eviction.js";

const FIX = "Fix: set maxmemory-policy noeviction in redis.conf";

/** `undefined` without Redis in the configuration; the client library is loaded only with it. */
export async function openSharedRedis(
  { redis: options, receipts }: GatewayConfig,
  journal: Journal,
): Promise<RedisConnections | undefined> {
  if (options === undefined) return undefined;
  const { openRedis } = await import("../store/redis/open-redis.js");
  const redis = await openRedis({ options, log: receipts.origin, journal });
  const eviction = await findEviction(redis);
  if (eviction !== undefined) {
    const facts = { code: "REDIS_EVICTS", policy: eviction };
    journal.warn(facts, "Redis removes keys when its memory is full, which closes velocity caps");
  }
  return redis;
}

/**
 * Connects to Redis as a start would, and describes it.
 *
 * @throws CountersignError `ERR_REDIS_UNAVAILABLE` when it does not respond, even if the gateway would start without it
 */
export async function inspectRedis({
  redis: options,
  receipts,
}: Pick<GatewayConfig, "redis" | "receipts">): Promise<string> {
  if (options === undefined) return "off";
  const { openRedis } = await import("../store/redis/open-redis.js");
  const redis = await openRedis({
    options: { ...options, whenDown: "refuse" },
    log: receipts.origin,
    journal: SILENT_JOURNAL,
  });
  try {
    const info = String(await redis.command("INFO", "server"));
    const version = (name: string): string | undefined =>
      new RegExp(`^${name}_version:(\\S+)`, "mu").exec(info)?.[1];
    const valkey = version("valkey");
    const program = valkey === undefined ? `Redis ${version("redis") ?? "?"}` : `Valkey ${valkey}`;
    const eviction = await findEviction(redis);
    if (eviction !== undefined) throw new TypeError(`${program} removes keys. ${FIX}`);
    return `${program} responds, kind ${options.kind}, when_down: ${options.whenDown}`;
  } finally {
    await redis.close();
  }
}
