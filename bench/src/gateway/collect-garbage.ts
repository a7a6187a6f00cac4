/**
 * Loaded before a Node program whose memory is measured: on SIGUSR2 it collects garbage and writes
 * the remaining heap size. Resident memory alone would show how long ago the collector ran.
 */
import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env["BENCH_MEMORY_FILE"];
if (isMainThread && file !== undefined) {
  process.on("SIGUSR2", () => {
    // Twice: objects that a finalizer releases are free only after the next collection.
    globalThis.gc?.();
    setTimeout(() => {
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      writeFileSync(file, JSON.stringify({ heapBytes: heapUsed + external }));
    }, 200);
  });
}
