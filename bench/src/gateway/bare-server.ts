import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPeer } from "./peer.js";
import type { ServerCalls } from "./proxy.js";
import type { Place, Running } from "./variant.js";

const PRELOAD = fileURLToPath(new URL("collect-garbage.js", import.meta.url));

/** Flags for a Node program that collects garbage on request. */
export function memoryFlags(forMemory: boolean): string[] {
  return forMemory ? ["--expose-gc", "--import", PRELOAD] : [];
}

/** The programs in this folder that forward or hold streams, without any of our packages. */
export type BareServer = "pipe" | "recording-pipe" | "holder";

/** Starts one of them. */
export async function startServer(name: BareServer, place: Place): Promise<Running> {
  const memoryFile = join(place.directory, "memory.json");
  const env = { ...process.env, BENCH_MEMORY_FILE: memoryFile };
  const peer = startPeer<ServerCalls>(name, memoryFlags(place.forMemory), env);
  const port = await peer.calls.start(place);
  return {
    target: { port, path: "/", transport: place.transport },
    pids: () => [peer.pid],
    ...(place.forMemory ? { memoryFile } : {}),
    stop: peer.stop,
  };
}
