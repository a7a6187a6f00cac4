import { parentPort, workerData } from "node:worker_threads";
import type { StoreResponse, StoreCall } from "./store-database.js";
import { StoreDatabase } from "./store-database.js";

const { file } = workerData as { file: string };
const port = parentPort;
if (port === null) throw new TypeError("this file runs as a worker thread");

const database = await StoreDatabase.open(file);

port.on("message", ({ id, method, parameters }: StoreCall) => {
  let response: StoreResponse;
  try {
    const run = database[method].bind(database) as (...values: unknown[]) => unknown;
    response = { id, value: run(...parameters) };
  } catch (error) {
    response = { id, failure: error instanceof Error ? error.message : "unknown failure" };
  }
  port.postMessage(response);
});
port.postMessage({ id: 0, value: "ready" } satisfies StoreResponse);
