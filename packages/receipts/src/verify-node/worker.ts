import { parentPort, workerData } from "node:worker_threads";
import { createDirectoryReader } from "../export/directory-reader.js";
import { verifyBundle } from "../verify/bundle.js";
import { bundleWidth } from "../verify/export.js";
import { createReceiptSignatures } from "../verify/signature.js";
import { loadFastVerifier } from "./ed25519.js";
import { fastVerifyBundle } from "./fast-verify-bundle.js";
import type { WorkerReply, WorkerRequest, WorkerSetup } from "./protocol.js";

const { directory, size, periods } = workerData as WorkerSetup;
const check = await loadFastVerifier();
const context = {
  reader: createDirectoryReader(directory),
  signatures: createReceiptSignatures(check),
  periods,
};
const sound = { directory, check, periods };

async function answer({ index, lines }: WorkerRequest): Promise<WorkerReply> {
  try {
    const width = bundleWidth(index, size);
    const report =
      fastVerifyBundle(index, width, sound, lines) ??
      (await verifyBundle(index, width, context, lines));
    return { report };
  } catch (error) {
    return { index, error };
  }
}

parentPort?.on("message", (question: WorkerRequest) => {
  void answer(question).then((result) => parentPort?.postMessage(result));
});
