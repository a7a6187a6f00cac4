import type { GatewayConfig } from "../config/config.js";
import { SILENT_JOURNAL } from "../base/ports.js";

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
    return `${program} responds, kind ${options.kind}, when_down: ${options.whenDown}`;
  } finally {
    await redis.close();
  }
}
