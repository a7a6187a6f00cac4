import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { encodeFailure } from "./index-messages.js";
import type { IndexReply, IndexCall } from "./index-messages.js";
import { IndexService } from "./index-service.js";
import type { IndexProgress } from "./index-database.js";

const { directory, log } = workerData as { directory: string; log: IndexProgress };
const port = parentPort;
if (port === null) throw new TypeError("this file runs as a worker thread");

// The index may lag, appends may not: on Linux a thread can lower its priority.
const STEP_BACK = 19;
try {
  const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  setPriority(thread, STEP_BACK);
} catch {
  // Other systems run it at normal priority.
}

const service = await IndexService.open(directory, log);
const methods: Record<string, ((...parameters: never[]) => unknown) | undefined> = {
  progress: () => service.progress(),
  query: service.query.bind(service),
  count: service.count.bind(service),
  remove: service.remove.bind(service),
  importForeign: service.importForeign.bind(service),
  queryForeign: service.queryForeign.bind(service),
  close: () => service.close(),
};

port.on("message", (call: IndexCall | { follow: IndexProgress }) => {
  if ("follow" in call) {
    service.follow(call.follow);
    return;
  }
  void (async () => {
    let answer: IndexReply;
    try {
      const value = await methods[call.method]?.(...(call.parameters as never[]));
      answer = { id: call.id, value };
    } catch (error) {
      answer = { id: call.id, failure: encodeFailure(error) };
    }
    port.postMessage(answer);
  })();
});
port.postMessage({ id: 0, value: "ready" } satisfies IndexReply);
