import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createSigner } from "@countersign/core/sign";
import { KEY_FILES, openKey, openKeyHistory } from "@countersign/gateway";
import { EMPTY_ROOT, signCheckpoint } from "@countersign/receipts";
import { openLog } from "@countersign/receipts/log";
import type { EntryDraft, ReceiptLog, ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { createSigningPool } from "@countersign/receipts/sign";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { Command } from "commander";
import { reportFailure } from "../../../output/failure.js";
import { registerKeys } from "../../keys/index.js";
import { registerReceipts } from "../index.js";

/** The result of a command. */
export type CommandResult = { readonly code: number; readonly out: string };

/** A directory with the store and the keys of a gateway, and the verbs to look at them. */
export type SampleGateway = {
  readonly path: (name: string) => string;
  /** Runs a verb on this store and these keys. */
  run(...args: string[]): Promise<CommandResult>;
  /** Opens the log as the gateway does, over this store or its own. */
  open(store?: ReceiptStore): Promise<ReceiptLog>;
  /** Opens its store for writing. */
  openStore(): Promise<ReceiptStore>;
  /** Appends as many entries as asked and stops again. */
  append(from: number, to: number): Promise<void>;
  remove(): void;
};

const ORIGIN = "countersign.local/log";

/** A made-up decision; every fifth was blocked. */
export function sampleDraft(number: number): EntryDraft {
  const allowed = number % 5 !== 4;
  return {
    direction: number % 3 === 0 ? "inbound" : "outbound",
    mode: "enforce",
    policy_hash: "ef".repeat(32),
    received_at: 1_794_700_000_000 + number * 1_000,
    run_id: `run_${Math.floor(number / 10)}`,
    thread_id: `thread_${number % 4}`,
    receipt: {
      agent_id: "main",
      allowed,
      capability_id: "<none>",
      classification: number % 2 === 0 ? "submit" : "display",
      event_id: `evt_${String(number).padStart(26, "0")}`,
      event_type: number === 1 ? { custom: "clip\u001b[2Jboard" } : "form_action",
      payload_hash: "cd".repeat(32),
      session_id: `sess_${number % 2}`,
      target: { component_type: "modal", component_id: "confirm:refund" },
      timestamp: 1_794_700_000,
      transport: "sse",
      ...(allowed ? {} : { denial_reason: "capability required for Submit events" }),
    },
  };
}

/** Makes an empty one: with a store of its own, or over a PostgreSQL database. */
export function createSampleGateway(database?: string): SampleGateway {
  const directory = mkdtempSync(join(tmpdir(), "countersign-cli-receipts-"));
  const path = (name: string): string => join(directory, name);
  const place = ["--store", database ?? `sqlite:${path("store")}`, "--keys", path("keys")];
  const openStore = (): Promise<ReceiptStore> =>
    database === undefined
      ? openSqliteStore({ directory: path("store") })
      : openPostgresStore({ url: database, log: ORIGIN });
  const open = async (opened?: ReceiptStore): Promise<ReceiptLog> => {
    const store = opened ?? (await openStore());
    const key = await openKey(path("keys"), "receipts");
    const { size } = await store.head();
    await openKeyHistory(path("keys"), key, { firstEntry: size, now: 1_794_700_000_000 });
    if (database === undefined) await keepParts(path("store"), path("keys"));
    return openLog({
      store,
      signer: await createSigningPool(key),
      checkpointSigner: createSigner(await openKey(path("keys"), "checkpoint")),
      origin: ORIGIN,
      checkpointInterval: 0,
    });
  };
  return {
    path,
    open,
    openStore,
    run: (...args) => runVerb([...args, ...place]),
    async append(from, to) {
      const log = await open();
      for (let number = from; number < to; number += 1) void log.append(sampleDraft(number));
      await log.close();
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Keeps what a gateway keeps before the first entry of a log: the key history in the store, a ledger, a checkpoint. */
async function keepParts(store: string, keys: string): Promise<void> {
  cpSync(join(keys, KEY_FILES.history), join(store, KEY_FILES.history));
  mkdirSync(join(store, "ledger"), { recursive: true });
  writeFileSync(join(store, "ledger", "ledger.sqlite"), "a ledger");
  const kept = join(keys, KEY_FILES.checkpoint);
  if (existsSync(kept)) return;
  const signer = createSigner(await openKey(keys, "checkpoint"));
  const empty = { origin: ORIGIN, size: 0, root: EMPTY_ROOT };
  writeFileSync(kept, await signCheckpoint(empty, signer));
}

/** Runs one verb in this process, with what it wrote and its exit code. */
export async function runVerb(args: readonly string[]): Promise<CommandResult> {
  let out = "";
  const program = new Command("countersign").exitOverride();
  const write = (text: string): void => void (out += text);
  program.configureOutput({ writeErr: write, writeOut: write });
  registerKeys(program);
  registerReceipts(program);
  const { exitCode } = process;
  const streams = [process.stdout, process.stderr];
  const originals = streams.map((stream) => stream.write);
  process.exitCode = 0;
  for (const stream of streams) {
    stream.write = (chunk: string | Uint8Array): boolean => {
      out += String(chunk);
      return true;
    };
  }
  try {
    await program.parseAsync(["node", "countersign", ...args]).catch((error: unknown) => {
      process.exitCode = reportFailure(error, args.includes("--json"));
    });
    return { code: Number(process.exitCode), out: stripVTControlCharacters(out) };
  } finally {
    streams.forEach((stream, index) => {
      const original = originals[index];
      if (original !== undefined) stream.write = original;
    });
    process.exitCode = exitCode;
  }
}
