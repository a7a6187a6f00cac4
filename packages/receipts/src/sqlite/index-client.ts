import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ForeignFilter, ForeignReceipt } from "../import/foreign.js";
import type { CountRequest, CountRow, EntryFilter, PageRequest } from "../query/query.js";
import { closedStore, readFailure } from "../store/failure.js";
import type { FoundEntries, IndexProgress } from "./index-database.js";
import { decodeFailure } from "./index-messages.js";
import type { IndexReply } from "./index-messages.js";
import { IndexService } from "./index-service.js";

/** The index as the store uses it. */
export type IndexClient = {
  follow(log: IndexProgress): void;
  progress(): Promise<IndexProgress>;
  query(
    filter: EntryFilter,
    page: PageRequest | undefined,
    log: IndexProgress,
  ): Promise<FoundEntries>;
  count(request: CountRequest, log: IndexProgress): Promise<CountRow[]>;
  /** Removes the rows of the entries before `first`; the index no longer needs their files. */
  remove(first: number, log: IndexProgress): Promise<void>;
  importForeign(receipts: readonly ForeignReceipt[]): Promise<number>;
  queryForeign(filter: ForeignFilter): Promise<ForeignReceipt[]>;
  close(): Promise<void>;
};

async function startInThread(directory: string, log: IndexProgress): Promise<IndexClient> {
  const service = await IndexService.open(directory, log);
  return {
    follow: (to) => service.follow(to),
    progress: async () => service.progress(),
    query: (filter, page, to) => service.query(filter, page, to),
    count: (request, to) => service.count(request, to),
    remove: (first, to) => service.remove(first, to),
    importForeign: async (receipts) => service.importForeign(receipts),
    queryForeign: async (filter) => service.queryForeign(filter),
    close: () => service.close(),
  };
}

type Call = { resolve(value: unknown): void; reject(error: Error): void };

/**
 * Starts the index in its own thread. A thread that dies rejects its pending queries, and the next
 * query starts another one, which resumes from the last transaction.
 */
async function startThread(
  directory: string,
  file: URL,
  current: () => IndexProgress,
): Promise<IndexClient> {
  const calls = new Map<number, Call>();
  let next = 1;
  let closed = false;
  let worker: Worker | undefined;
  let starting: Promise<Worker> | undefined;
  const start = (): Promise<Worker> =>
    new Promise((resolve, reject) => {
      const fresh = new Worker(file, { workerData: { directory, log: current() } });
      const died = (cause?: unknown): void => {
        const why = cause instanceof Error ? cause : new Error("the index thread ended");
        const error = readFailure("ask the index", why);
        reject(error);
        if (worker === fresh) worker = undefined;
        for (const call of calls.values()) call.reject(error);
        calls.clear();
      };
      fresh.on("error", died);
      fresh.on("exit", () => died());
      fresh.on("message", (answer: IndexReply) => {
        if (answer.id === 0) {
          fresh.unref();
          resolve(fresh);
          return;
        }
        const call = calls.get(answer.id);
        calls.delete(answer.id);
        if (calls.size === 0) fresh.unref();
        if ("failure" in answer) call?.reject(decodeFailure(answer.failure));
        else call?.resolve(answer.value);
      });
    });
  const running = async (): Promise<Worker> => {
    if (closed) throw closedStore();
    if (worker !== undefined) return worker;
    starting ??= start().finally(() => {
      starting = undefined;
    });
    worker = await starting;
    return worker;
  };
  const call = async <Value>(method: string, ...parameters: unknown[]): Promise<Value> => {
    const target = await running();
    return new Promise<Value>((resolve, reject) => {
      const id = next++;
      calls.set(id, { resolve: resolve as (value: unknown) => void, reject });
      target.ref();
      target.postMessage({ id, method, parameters });
    });
  };
  await running();
  return {
    follow: (log) => worker?.postMessage({ follow: log }),
    progress: () => call("progress"),
    query: (filter, page, log) => call("query", filter, page, log),
    count: (request, log) => call("count", request, log),
    remove: (first, log) => call("remove", first, log),
    importForeign: (receipts) => call("importForeign", receipts),
    queryForeign: (filter) => call("queryForeign", filter),
    async close() {
      if (worker !== undefined) await call("close").catch(() => undefined);
      closed = true;
      await worker?.terminate();
    },
  };
}

/** Starts the index of a log; from source, without a compiled worker, it runs on this thread. */
export async function startIndex(
  directory: string,
  current: () => IndexProgress,
  workerFile: URL = new URL("./worker.js", import.meta.url),
): Promise<IndexClient> {
  if (!existsSync(fileURLToPath(workerFile))) return startInThread(directory, current());
  return startThread(directory, workerFile, current);
}
