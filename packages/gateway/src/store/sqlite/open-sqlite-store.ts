import { CountersignError } from "@countersign/core";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { openReadOnlyDatabase } from "@countersign/receipts/sqlite";
import type { Clock } from "../../base/ports.js";
import "../../base/errors.js";
import { LOOKS } from "../forget-old.js";
import type { KeyedStore } from "../keyed-store.js";
import { parseStored, encodeText } from "../stored-text.js";
import type { StoreResponse, StoreCall, ClaimResult } from "./store-database.js";
import { decodeRows, StoreDatabase } from "./store-database.js";

/** Options of {@link openSqliteKeyedStore}. */
export type SqliteKeyedStoreOptions = {
  readonly directory: string;
  readonly clock: Clock;
  /** The compiled worker. Without it, when run from source, the database shares this thread. */
  readonly workerFile?: URL;
};

type Ask = (method: StoreCall["method"], ...parameters: unknown[]) => Promise<unknown>;

/** Opens the keyed store next to the receipts, in a worker thread: no commit ever delays a stream. */
export async function openSqliteKeyedStore(options: SqliteKeyedStoreOptions): Promise<KeyedStore> {
  const { directory, clock } = options;
  // The store contains requests and approvals, and SQLite creates its files with default permissions.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "ledger.sqlite");
  const workerFile = options.workerFile ?? new URL("./worker.js", import.meta.url);
  const hasWorker = existsSync(fileURLToPath(workerFile));
  const { ask, end } = hasWorker ? await startThread(workerFile, file) : await openHere(file);
  let closing: Promise<void> | undefined;
  const request = async <Value>(...call: Parameters<Ask>): Promise<Value> => {
    if (closing !== undefined) throw unavailable("it is closed");
    return (await ask(...call)) as Value;
  };
  return {
    write: (partition, rows, removed = []) =>
      request("write", partition, rows, removed, clock.now()),
    claim: async (claims, reading) => {
      const claimed = await request<ClaimResult>("claim", claims, reading, clock.now());
      return { known: claimed.known, rows: decodeRows(claimed.rows) };
    },
    forget: async (before) => {
      let all = 0;
      for (;;) {
        const count = await request<number>("forget", before);
        all += count;
        if (count === 0) return all;
      }
    },
    close: () =>
      (closing ??= (async () => {
        await ask("close").catch(() => undefined);
        await end();
      })()),
  };
}

/** True when a gateway has completed its start on the store of this folder before; creates nothing. */
export async function wasSqliteStoreUsed(directory: string): Promise<boolean> {
  const file = join(directory, "ledger.sqlite");
  if (!existsSync(file)) return false;
  const database = await openReadOnlyDatabase(file);
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'facts'");
    if (tables.get() === undefined) return false;
    const rows = database.prepare("SELECT kind, value FROM facts WHERE thread = ?");
    const looks = rows.all(encodeText(LOOKS));
    for (const { value } of looks) parseStored(String(value));
    return looks.some(({ kind }) => kind === "look");
  } finally {
    database.close();
  }
}

function unavailable(why: string): CountersignError<"ERR_LEDGER_UNAVAILABLE"> {
  return new CountersignError("ERR_LEDGER_UNAVAILABLE", `the ledger failed: ${why}`, {});
}

async function openHere(file: string): Promise<{ ask: Ask; end(): Promise<void> }> {
  const database = await StoreDatabase.open(file);
  return {
    ask: async (method, ...parameters) => {
      const run = database[method].bind(database) as (...values: unknown[]) => unknown;
      try {
        return run(...parameters);
      } catch (error) {
        throw unavailable(error instanceof Error ? error.message : "unknown failure");
      }
    },
    end: async () => {},
  };
}

type Call = { resolve(value: unknown): void; reject(error: Error): void };

/** When the worker dies, its pending calls are rejected and the next call starts another. */
async function startThread(
  workerFile: URL,
  file: string,
): Promise<{ ask: Ask; end(): Promise<void> }> {
  const calls = new Map<number, Call>();
  let next = 1;
  let running: Promise<Worker> | undefined;
  const start = (): Promise<Worker> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(workerFile, { workerData: { file } });
      const died = (): void => {
        running = undefined;
        const error = unavailable("its thread ended");
        reject(error);
        for (const call of calls.values()) call.reject(error);
        calls.clear();
      };
      worker.on("error", died);
      worker.on("exit", died);
      worker.on("message", (response: StoreResponse) => {
        if (response.id === 0) {
          worker.unref();
          resolve(worker);
          return;
        }
        const call = calls.get(response.id);
        calls.delete(response.id);
        if (calls.size === 0) worker.unref();
        if ("failure" in response) call?.reject(unavailable(response.failure));
        else call?.resolve(response.value);
      });
    });
  const ask: Ask = async (method, ...parameters) => {
    const worker = await (running ??= start());
    return new Promise((resolve, reject) => {
      const id = next++;
      calls.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, method, parameters } satisfies StoreCall);
    });
  };
  await (running = start());
  return {
    ask,
    end: async () => {
      await (await running)?.terminate();
    },
  };
}
