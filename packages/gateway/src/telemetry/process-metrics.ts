import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricName } from "./catalogue.js";
import type { Sample } from "./exposition.js";

/** Metrics of the process, read on demand. */
export type ProcessMetrics = {
  read(): ReadonlyMap<MetricName, readonly Sample[]>;
  stop(): void;
};

const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/** Starts to measure the event loop; nothing else costs time between two scrapes. */
export function watchProcess(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const startedAt = Date.now() / 1000 - process.uptime();
  return {
    read: () => {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
      const lag = (value: number): number => (Number.isNaN(value) ? 0 : value / NANOSECONDS);
      const samples = new Map<MetricName, readonly Sample[]>([
        ["process_cpu_seconds_total", [[[], (user + system) / MICROSECONDS]]],
        ["process_resident_memory_bytes", [[[], rss]]],
        ["process_start_time_seconds", [[[], startedAt]]],
        ["process_open_fds", openFiles()],
        ["nodejs_heap_used_bytes", [[[], heapUsed]]],
        ["nodejs_heap_total_bytes", [[[], heapTotal]]],
        ["nodejs_external_memory_bytes", [[[], external]]],
        [
          "nodejs_eventloop_lag_seconds",
          [
            [["0.5"], lag(delay.percentile(50))],
            [["0.99"], lag(delay.percentile(99))],
            [["1"], lag(delay.max)],
          ],
        ],
      ]);
      // Reset at each scrape: a maximum since the start would never fall.
      delay.reset();
      return samples;
    },
    stop: () => void delay.disable(),
  };
}

/** Only Linux has this folder; elsewhere the metric stays empty. */
function openFiles(): readonly Sample[] {
  try {
    return [[[], readdirSync("/proc/self/fd").length]];
  } catch {
    return [];
  }
}
