import { parentPort, workerData } from "node:worker_threads";
import type { LedgerAnswer, LedgerCall } from "./messages.js";
import { LedgerDatabase } from "./service.js";

const { file } = workerData as { file: string };
const port = parentPort;
if (port === null) throw new TypeError("this file runs as a worker thread");

const database = await LedgerDatabase.open(file);

port.on("message", ({ id, method, parameters }: LedgerCall) => {
  let answer: LedgerAnswer;
  try {
    const run = database[method].bind(database) as (...values: unknown[]) => unknown;
    answer = { id, value: run(...parameters) };
  } catch (error) {
    answer = { id, failure: error instanceof Error ? error.message : "unknown failure" };
  }
  port.postMessage(answer);
});
port.postMessage({ id: 0, value: "ready" } satisfies LedgerAnswer);
