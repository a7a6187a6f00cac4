import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CountersignError } from "@countersign/core";
import { exportPrivateKeyPem } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import type { SignLibrary } from "./ed25519.js";
import { closedError, isSmall, kernelKeyOf } from "./group-signer.js";
import type { SignedGroup } from "./group.js";
import type { GroupSigner } from "./group-signer.js";
import { createInThreadSigner } from "./in-thread.js";
import { loadSignInto } from "./ed25519.js";
import { signGroup } from "./sign-group.js";
import type { WorkerReply, WorkerSetup } from "./worker-messages.js";

type Waiting = {
  resolve(group: SignedGroup): void;
  reject(error: Error): void;
};
type Lane = { readonly worker: Worker; readonly waiting: Waiting[] };

/** Options of {@link createSigningPool}. */
export type SigningPoolOptions = {
  /** Number of threads; default: one per processor, at most four. */
  readonly workers?: number;
  /** Forces a library; by default libsodium when it is installed. */
  readonly library?: SignLibrary;
  /** The URL of the worker's JavaScript; for tests. */
  readonly workerFile?: URL;
};

const MAX_DEFAULT_WORKERS = 4;
// Groups queued per thread, so that a thread never idles between two messages.
const GROUPS_PER_WORKER = 2;

function crashed(reason: "crashed" | "failed" | "not-started"): CountersignError {
  return new CountersignError("ERR_SIGN_WORKER", `a signing thread ${reason}`, { reason });
}

/**
 * Signs in worker threads, so that a receipt costs the event loop about a microsecond. Small groups
 * are signed on the calling thread, since a message to a thread would cost more. A thread that dies
 * rejects its groups and is replaced. Without a compiled worker it signs on the calling thread.
 */
export async function createSigningPool(
  key: Ed25519Key,
  options: SigningPoolOptions = {},
): Promise<GroupSigner> {
  const count = options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS);
  if (!Number.isInteger(count) || count < 1 || count > 64) {
    throw new TypeError("a signing pool has 1 to 64 workers");
  }
  const file = options.workerFile ?? new URL("./worker.js", import.meta.url);
  const { library } = options;
  // Source runs (tests) have no compiled worker, and a stale one elsewhere would be used by
  // mistake.
  if (!existsSync(fileURLToPath(file))) {
    return createInThreadSigner(key, library === undefined ? {} : { library });
  }
  const pem = exportPrivateKeyPem(key);
  const kernelKey = kernelKeyOf(key);
  const here = { kernelKey, sign: (await loadSignInto(pem, library)).sign };
  let closed = false;

  const start = async (): Promise<Lane> => {
    const setup: WorkerSetup = { pem, library, kernelKey };
    const worker = new Worker(file, { workerData: setup });
    const fresh: Lane = { worker, waiting: [] };
    await new Promise<void>((resolve, reject) => {
      worker.on("message", (answer: WorkerReply) => {
        if ("ready" in answer) {
          // From here on the thread must not keep a finished program alive.
          worker.unref();
          resolve();
          return;
        }
        const waiting = fresh.waiting.shift();
        if (fresh.waiting.length === 0) worker.unref();
        if (answer.ok) waiting?.resolve(answer.group);
        else waiting?.reject(crashed("failed"));
      });
      worker.on("error", () => reject(crashed("not-started")));
      worker.on("exit", () => {
        reject(crashed("not-started"));
        const held = fresh.waiting.splice(0);
        for (const one of held) one.reject(closed ? closedError() : crashed("crashed"));
        const at = lanes.indexOf(fresh);
        if (closed || at === -1) return;
        lanes.splice(at, 1);
        revive();
      });
    });
    return fresh;
  };
  const lanes: Lane[] = [];
  let reviving: Promise<void> | undefined;
  const revive = (): void => {
    reviving ??= start()
      .then(
        (lane) => {
          if (closed) void lane.worker.terminate();
          else lanes.push(lane);
        },
        () => undefined,
      )
      .finally(() => {
        reviving = undefined;
        if (lanes.length < count && !closed) setTimeout(revive, 200).unref();
      });
  };
  lanes.push(...(await Promise.all(Array.from({ length: count }, () => start()))));

  return {
    kernelKey,
    parallel: count * GROUPS_PER_WORKER,
    signSmall(request) {
      if (closed) throw closedError();
      if (!isSmall(request)) return undefined;
      try {
        return signGroup(request, here);
      } catch {
        // The cause may contain payload data: it is not passed on.
        throw crashed("failed");
      }
    },
    async sign(request) {
      if (closed) throw closedError();
      if (lanes.length === 0) await reviving;
      const lane = lanes.reduce<Lane | undefined>(
        (least, one) =>
          least === undefined || one.waiting.length < least.waiting.length ? one : least,
        undefined,
      );
      if (lane === undefined) throw crashed("not-started");
      return new Promise<SignedGroup>((resolve, reject) => {
        lane.waiting.push({ resolve, reject });
        lane.worker.ref();
        lane.worker.postMessage(request);
      });
    },
    async close() {
      closed = true;
      await reviving;
      await Promise.all(lanes.map((lane) => lane.worker.terminate()));
    },
  };
}
