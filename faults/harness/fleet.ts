import { cp } from "node:fs/promises";
import { join } from "node:path";
import { startIn } from "./gateway.js";
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
