import type { RedisConnections } from "./open-redis.js";

/**
 * The eviction policy of a server that may remove keys before their time; `undefined` when it does not, or does not
 * tell. A removed count closes the caps.
 */
export async function findEviction(
  redis: Pick<RedisConnections, "command">,
): Promise<string | undefined> {
  const info = String(await redis.command("INFO", "memory").catch(() => ""));
  const [, limit = "0"] = /^maxmemory:(\d+)/mu.exec(info) ?? [];
  const [, policy = "noeviction"] = /^maxmemory_policy:(\S+)/mu.exec(info) ?? [];
  return limit === "0" || policy === "noeviction" ? undefined : policy;
}
