import { parentPort, workerData } from "node:worker_threads";
import { loadSignInto } from "./ed25519.js";
import type { SignRequest } from "./group.js";
import { signGroup } from "./sign-group.js";
import type { WorkerReply, WorkerSetup } from "./worker-messages.js";

const { pem, library, kernelKey } = workerData as WorkerSetup;
const port = parentPort;
if (port === null) throw new TypeError("this file runs as a worker thread");
const loaded = await loadSignInto(pem, library);
const key = { sign: loaded.sign, kernelKey };

port.on("message", (request: SignRequest) => {
  try {
    const group = signGroup(request, key);
    const { records, places, leaves, nodes } = group;
    port.postMessage(
      { ok: true, group } satisfies WorkerReply,
      [records, places, leaves, nodes].map(({ buffer }) => buffer as ArrayBuffer),
    );
  } catch {
    // The cause may contain payload data: it is not passed on.
    port.postMessage({ ok: false } satisfies WorkerReply);
  }
});
port.postMessage({ ready: loaded.library } satisfies WorkerReply);
