/**
 * One gateway's receipt log in a process of its own: appends on request and reports its times. The
 * checkout comes as an argument, so that two versions can append by turns.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as sign from "@countersign/core/sign";
import type * as log from "@countersign/receipts/log";
import type * as postgres from "@countersign/receipts/postgres";
import type * as pool from "@countersign/receipts/sign";
import { mainThreadMicroseconds } from "../receipts-threads.js";
import { draftOf } from "./drafts.js";

/** A request: append so many entries, `together` in a call. */
export type AppendRequest = {
  readonly entries: number;
  readonly together: number;
  readonly under: number;
  /** Runs whose events alternate. */
  readonly runs: number;
};

/** The times of a request. */
export type AppendReply = {
  readonly rate: number;
  /** Microseconds of processor time of an entry, all threads. */
  readonly microseconds: number;
  /** The part of it on the event loop. */
  readonly loop: number;
  /** Milliseconds that one call took: the median and the slowest. */
  readonly wait: number;
  readonly longest: number;
};

const [checkout = "", url = "", name = "", mode = "batch"] = process.argv.slice(2);
const load = async <Module>(path: string): Promise<Module> =>
  (await import(pathToFileURL(join(checkout, "packages", path)).href)) as Module;
const { generateKey, createSigner } = await load<typeof sign>("core/dist/ed25519/sign-node.js");
const { openLog } = await load<typeof log>("receipts/dist/log/index.js");
const { openPostgresStore } = await load<typeof postgres>("receipts/dist/postgres/index.js");
const { createSigningPool } = await load<typeof pool>("receipts/dist/sign/index.js");

const opened = await openLog({
  store: await openPostgresStore({ url, log: name }),
  signer: await createSigningPool(generateKey()),
  checkpointSigner: createSigner(generateKey()),
  origin: "bench.example/log",
  sign: mode === "each" ? "each" : "batch",
  // Writers of one log have keys of their own here, and cannot check each other's checkpoints.
  checkpointInterval: 0,
});

let next = process.pid * 1_000_000;

async function append({ entries, together, under, runs }: AppendRequest): Promise<AppendReply> {
  const first = next;
  const end = first + entries;
  const waits: number[] = [];
  const cpu = process.cpuUsage();
  const main = mainThreadMicroseconds() ?? 0;
  const start = performance.now();
  const stream = async (): Promise<void> => {
    while (next < end) {
      const began = performance.now();
      const drafts = Array.from({ length: together }, () => draftOf(next++, runs));
      await opened.appendAll(drafts);
      waits.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: Math.ceil(under / together) }, stream));
  const done = next - first;
  const milliseconds = performance.now() - start;
  const used = process.cpuUsage(cpu);
  const sorted = waits.toSorted((left, right) => left - right);
  return {
    rate: (done * 1_000) / milliseconds,
    microseconds: (used.user + used.system) / done,
    loop: ((mainThreadMicroseconds() ?? 0) - main) / done,
    wait: sorted[Math.floor(sorted.length / 2)] ?? 0,
    longest: sorted.at(-1) ?? 0,
  };
}

process.on("message", (request: AppendRequest | "close") => {
  if (request === "close") void opened.close().then(() => process.exit(0));
  else void append(request).then((reply) => process.send?.(reply));
});
process.send?.("ready");
