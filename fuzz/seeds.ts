import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { FuzzTarget } from "./engine/target.js";

/** The inputs a target begins with: those in its code, and the files in its folder of seeds, each a past finding. */
export function seedsOf(target: FuzzTarget, folder: string): Uint8Array[] {
  const written = target.seeds.map((seed) =>
    typeof seed === "string" ? new TextEncoder().encode(seed) : seed,
  );
  const own = join(folder, target.name);
  if (!existsSync(own)) return written;
  const names = readdirSync(own).toSorted();
  return [...written, ...names.map((name) => new Uint8Array(readFileSync(join(own, name))))];
}
