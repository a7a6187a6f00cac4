import { parentPort, workerData } from "node:worker_threads";
import { createDirectoryReader } from "../export/directory-reader.js";
import { verifyBundle } from "../verify/bundle.js";
import { bundleWidth } from "../verify/export.js";
import { createReceiptSignatures } from "../verify/signature.js";
import { loadFastVerifier } from "./ed25519.js";
import type { WorkerAnswer, WorkerQuestion, WorkerSetup } from "./protocol.js";

const { directory, size, periods } = workerData as WorkerSetup;
const context = {
  reader: createDirectoryReader(directory),
  signatures: createReceiptSignatures(await loadFastVerifier()),
  periods,
};

async function answer({ index, lines }: WorkerQuestion): Promise<WorkerAnswer> {
  try {
    return { report: await verifyBundle(index, bundleWidth(index, size), context, lines) };
  } catch (error) {
    return { index, error };
  }
}

parentPort?.on("message", (question: WorkerQuestion) => {
  void answer(question).then((result) => parentPort?.postMessage(result));
});
