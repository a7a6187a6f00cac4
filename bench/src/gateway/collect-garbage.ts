/**
 * Loaded before a Node program whose memory is measured: on SIGUSR2 it collects garbage and writes down
 * what is left. Resident memory alone would tell how long ago the collector ran.
 */
import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env["BENCH_MEMORY_FILE"];
if (isMainThread && file !== undefined) {
  process.on("SIGUSR2", () => {
    // Twice: what a finaliser lets go is free only after the next round.
    globalThis.gc?.();
    setTimeout(() => {
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      writeFileSync(file, JSON.stringify({ heapBytes: heapUsed + external }));
    }, 200);
  });
}
