import { parentPort, workerData } from "node:worker_threads";
import type { SignLibrary } from "./ed25519.js";
import { loadSignInto } from "./ed25519.js";
import type { SignRequest } from "./group.js";
import { signGroup } from "./sign-group.js";
import type { WorkerAnswer } from "./worker-messages.js";

const { pem, library } = workerData as { pem: string; library?: SignLibrary };
const port = parentPort;
if (port === null) throw new TypeError("this file runs as a worker thread");
const loaded = await loadSignInto(pem, library);

port.on("message", (request: SignRequest) => {
  try {
    const { bytes, cuts } = signGroup(request, loaded.sign);
    const answer: WorkerAnswer = { ok: true, bytes, cuts };
    port.postMessage(answer, [bytes.buffer as ArrayBuffer, cuts.buffer as ArrayBuffer]);
  } catch {
    // The cause may quote what was to be signed: it stays here.
    port.postMessage({ ok: false } satisfies WorkerAnswer);
  }
});
port.postMessage({ ready: loaded.library } satisfies WorkerAnswer);
