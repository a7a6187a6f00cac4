import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { openEmbeddedDatabase } from "./embedded-databases.js";
import type { DatabaseKind } from "./embedded-databases.js";

/** A call to the thread of a database. */
export type DatabaseCall = {
  readonly id: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
};

/** The response of the thread. */
export type DatabaseResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string };

/** Options of {@link openDatabaseThread}. */
export type DatabaseThreadOptions = {
  readonly kind: DatabaseKind;
  readonly directory: string;
  /** The compiled worker. Without it, when run from source, the database shares this thread. */
  readonly workerFile?: URL | undefined;
  /** Creates the error for a database that failed. */
  failure(why: string): Error;
};

/** A database in a worker thread: no commit ever delays a stream. */
export type DatabaseThread<Target> = {
  /** Calls a method of the database. */
  ask<Method extends keyof Target>(
    method: Method & string,
    ...parameters: Target[Method] extends (...values: infer Values) => unknown ? Values : never
  ): Promise<Target[Method] extends (...values: never[]) => infer Value ? Value : never>;
  close(): Promise<void>;
};

type Ask = (method: string, ...parameters: unknown[]) => Promise<unknown>;
type Started = { readonly ask: Ask; end(): Promise<void> };

/** Opens the database of a kind in its folder. */
export async function openDatabaseThread<Target>(
  options: DatabaseThreadOptions,
): Promise<DatabaseThread<Target>> {
  const { kind, directory, failure } = options;
  // SQLite creates its files with default permissions.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `${kind}.sqlite`);
  const workerFile = options.workerFile ?? new URL("./worker.js", import.meta.url);
  const hasWorker = existsSync(fileURLToPath(workerFile));
  const { ask, end } = hasWorker
    ? await startThread(workerFile, { kind, file }, failure)
    : await openHere({ kind, file }, failure);
  let closing: Promise<void> | undefined;
  return {
    ask: (async (method: string, ...parameters: unknown[]) => {
      if (closing !== undefined) throw failure("it is closed");
      return ask(method, ...parameters);
    }) as DatabaseThread<Target>["ask"],
    close: () =>
      (closing ??= (async () => {
        await ask("close").catch(() => undefined);
        await end();
      })()),
  };
}

/** The database that a worker opens. */
export type DatabasePlace = { readonly kind: DatabaseKind; readonly file: string };

async function openHere(
  place: DatabasePlace,
  failure: DatabaseThreadOptions["failure"],
): Promise<Started> {
  const call = await openEmbeddedDatabase(place);
  return {
    ask: async (method, ...parameters) => {
      try {
        return call(method, parameters);
      } catch (error) {
        throw failure(error instanceof Error ? error.message : "unknown failure");
      }
    },
    end: async () => {},
  };
}

type Call = { resolve(value: unknown): void; reject(error: Error): void };

/** When the worker dies, its pending calls are rejected and the next call starts another. */
async function startThread(
  workerFile: URL,
  place: DatabasePlace,
  failure: DatabaseThreadOptions["failure"],
): Promise<Started> {
  const calls = new Map<number, Call>();
  let next = 1;
  let running: Promise<Worker> | undefined;
  const start = (): Promise<Worker> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(workerFile, { workerData: place });
      const died = (): void => {
        running = undefined;
        const error = failure("its thread ended");
        reject(error);
        for (const call of calls.values()) call.reject(error);
        calls.clear();
      };
      worker.on("error", died);
      worker.on("exit", died);
      worker.on("message", (response: DatabaseResponse) => {
        if (response.id === 0) {
          worker.unref();
          resolve(worker);
          return;
        }
        const call = calls.get(response.id);
        calls.delete(response.id);
        if (calls.size === 0) worker.unref();
        if ("failure" in response) call?.reject(failure(response.failure));
        else call?.resolve(response.value);
      });
    });
  const ask: Ask = async (method, ...parameters) => {
    const worker = await (running ??= start());
    return new Promise((resolve, reject) => {
      const id = next++;
      calls.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, method, parameters } satisfies DatabaseCall);
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
