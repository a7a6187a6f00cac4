import { parentPort, workerData } from "node:worker_threads";
import type { DatabaseCall, DatabasePlace, DatabaseResponse } from "./database-thread.js";
import { openEmbeddedDatabase } from "./embedded-databases.js";

const port = parentPort;
if (port === null) throw new TypeError("this file runs as a worker thread");

const call = await openEmbeddedDatabase(workerData as DatabasePlace);

port.on("message", ({ id, method, parameters }: DatabaseCall) => {
  let response: DatabaseResponse;
  try {
    response = { id, value: call(method, parameters) };
  } catch (error) {
    response = { id, failure: error instanceof Error ? error.message : "unknown failure" };
  }
  port.postMessage(response);
});
port.postMessage({ id: 0, value: "ready" } satisfies DatabaseResponse);
