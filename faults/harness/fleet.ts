import { startPostgres, startRedis } from "@countersign/testkit";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { startIn, writeSettings } from "./gateway.js";
import type { GatewayProcess } from "./gateway.js";
import type { Scene } from "./scene.js";

/** Starts gateways of one log in directories that have their settings: all have the keys of the first. */
export async function startFleet(
  scene: Scene,
  directories: readonly string[],
): Promise<GatewayProcess[]> {
  const [one, ...others] = directories as [string, ...string[]];
  const first = await startIn(scene, one);
  const rest = others.map(async (directory) => {
    await cp(join(one, "keys"), join(directory, "keys"), {
      recursive: true,
      // The first goes on signing: this file is being replaced.
      filter: (source) => !source.includes("last-checkpoint"),
    });
    return startIn(scene, directory);
  });
  return [first, ...(await Promise.all(rest))];
}

/** Starts gateways of one log, on a PostgreSQL and a Redis of their own. */
export async function startSharing(
  scene: Scene,
  agent: string,
  gateways: number,
): Promise<GatewayProcess[]> {
  const store = await startPostgres({ settings: { fsync: "on" } });
  scene.defer(() => store.stop());
  const redis = await startRedis();
  scene.defer(() => redis.stop());
  const config = {
    receipts: { store: store.url, sign: "batch" },
    cluster: { redis: redis.url },
    metrics: { public: true },
    shutdown: { drain_timeout: 120 },
    listen: { host: "127.0.0.1", port: 0, heartbeat: 0.5 },
  };
  const directories: string[] = [];
  for (let number = 0; number < gateways; number += 1) directories.push(await scene.directory());
  for (const directory of directories) writeSettings(directory, { agent, config });
  return startFleet(scene, directories);
}
