import { Worker } from "node:worker_threads";
import type { BundleReport } from "../verify/bundle.js";
import type { BundlePlan } from "../verify/export.js";
import type { WorkerReply, WorkerRequest, WorkerSetup } from "./protocol.js";

/** Bundles queued per worker, so that it never waits for the main thread. */
const AHEAD = 4;

type Waiting = { resolve(report: BundleReport): void; reject(error: unknown): void };

/** Verifies bundles on several threads and yields the reports in order. */
export async function* verifyBundlesOnThreads(
  script: URL,
  directory: string,
  plan: BundlePlan,
  threads: number,
): AsyncGenerator<BundleReport> {
  const setup: WorkerSetup = { directory, size: plan.size, periods: plan.periods };
  const waiting = new Map<number, Waiting>();
  const count = Math.max(1, Math.min(threads, plan.bundles));
  const workers = Array.from({ length: count }, () => new Worker(script, { workerData: setup }));
  const failAll = (error: unknown): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const held = new Map(workers.map((worker) => [worker, 0]));
  // The worker with the shortest queue: a slow thread must not delay the others.
  const leastBusy = (): Worker =>
    workers.reduce((least, one) => ((held.get(one) ?? 0) < (held.get(least) ?? 0) ? one : least));
  for (const worker of workers) {
    worker.on("message", (answer: WorkerReply) => {
      held.set(worker, (held.get(worker) ?? 1) - 1);
      const index = "report" in answer ? answer.report.index : answer.index;
      const waiter = waiting.get(index);
      waiting.delete(index);
      if ("report" in answer) waiter?.resolve(answer.report);
      else waiter?.reject(answer.error);
    });
    worker.on("error", failAll);
  }
  const ask = (
    index: number,
    lines: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<BundleReport> => {
    const report = new Promise<BundleReport>((resolve, reject) => {
      waiting.set(index, { resolve, reject });
    });
    const worker = leastBusy();
    held.set(worker, (held.get(worker) ?? 0) + 1);
    const question: WorkerRequest = { index, lines };
    // Lines are in their own buffer (`BundlePlan`), so nothing else is transferred.
    worker.postMessage(question, lines === undefined ? [] : [lines.buffer]);
    // A rejection is handled in its turn; until then it must not count as unhandled.
    report.catch(() => {});
    return report;
  };
  try {
    const queue: Promise<BundleReport>[] = [];
    for (let next = plan.first; next < plan.bundles || queue.length > 0;) {
      while (next < plan.bundles && queue.length < count * AHEAD) {
        queue.push(ask(next, await plan.nextLines(next)));
        next += 1;
      }
      const report = await queue.shift();
      if (report !== undefined) yield report;
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
