import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { writeExport } from "@countersign/receipts/export";
import type { RemovedSource } from "@countersign/receipts/export";
import { findRetention, readEntriesFrom } from "@countersign/receipts/log";
import type { ReceiptStore } from "@countersign/receipts/log";
import { decodeAttestations } from "@countersign/receipts/witness";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { readText } from "../../files/read-file.js";
import { pathExists } from "../../files/path-exists.js";
import { COMMAND } from "../../output/command-name.js";
import { createProgress } from "../../output/progress.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { newestCheckpoint, witnessedCheckpoint } from "./find.js";
import { untilInterrupted } from "./interrupt.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { Location, LocationFlags } from "./location.js";

type Flags = LocationFlags & { proof?: number[]; witnessed?: boolean; json?: boolean };

const BATCH = 1024;
const EXAMPLE = `
The README in the directory explains how to verify the log, with and without Countersign.

Examples:
  $ countersign receipts export audit-2026-11
  $ countersign receipts export audit-2026-11 --proof 17 --proof 1024
  $ countersign receipts export audit-2026-11 --witnessed
`;

/** Adds `countersign receipts export`. */
export function registerExport(group: Command): void {
  const command = group
    .command("export")
    .description("write the log to a directory for auditors: tiles, receipts, keys, README")
    .argument("<directory>", "new directory to write");
  addLocationFlags(command)
    .option("--proof <seq>", "also write the proof of this entry (repeatable)", collectNumber)
    .option("--witnessed", "end at the newest checkpoint that witnesses cosigned")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(async (directory: string, flags: Flags) => {
      const place = findLocation(flags);
      const { size, beyond } = await withStore(place, async (store) => {
        const written = await untilInterrupted((signal) =>
          exportStore(store, place, directory, {
            proofs: flags.proof ?? [],
            signal,
            witnessed: flags.witnessed === true,
          }),
        );
        return { size: written, beyond: await countBeyond(store, written) };
      });
      if (flags.json === true) {
        printJson({ directory, entries: size, beyondCheckpoint: beyond });
        return;
      }
      printLine(`wrote ${size} entries to ${directory}; its README.md explains how to verify them`);
      if (beyond > 0) {
        printLine(
          `${beyond} more ${beyond === 1 ? "entry is" : "entries are"} newer than the last checkpoint. The next export contains them: a gateway signs a checkpoint every second, and at its next start if it was killed`,
        );
      }
      printLine(pc.dim(`Verify it: ${COMMAND} receipts verify ${directory}`));
    });
}

async function countBeyond(store: ReceiptStore, size: number): Promise<number> {
  let count = 0;
  for await (const _ of readEntriesFrom(store, size)) count += 1;
  return count;
}

function collectNumber(text: string, before: number[] | undefined): number[] {
  if (!/^\d{1,15}$/.test(text))
    throw new InvalidArgumentError("Write the number of an entry, 0 or more.");
  return [...(before ?? []), Number(text)];
}

/** How a store is exported. */
export type ExportStoreOptions = {
  readonly proofs?: readonly number[];
  readonly signal?: AbortSignal;
  /** Exports up to the newest checkpoint that witnesses cosigned. */
  readonly witnessed?: boolean;
  /** The checkpoint to export up to where the store has none yet. */
  readonly remembered?: string;
};

/** Writes a store's log up to its newest checkpoint; returns the number of entries. */
export async function exportStore(
  store: ReceiptStore,
  place: Location,
  directory: string,
  options: ExportStoreOptions = {},
): Promise<number> {
  const { text: checkpoint, size } =
    options.witnessed === true
      ? await witnessedCheckpoint(store)
      : await newestCheckpoint(store, options.remembered);
  for (const seq of options.proofs ?? []) {
    if (seq < size) continue;
    const which = String(seq);
    throw new CountersignError(
      "ERR_CLI_NO_RECEIPT",
      `no proof for entry ${which}: the last checkpoint covers ${size} entries`,
      { which },
    );
  }
  const progress = createProgress("exporting", size);
  const removed = await findRemoved(store);
  try {
    await writeExport(
      directory,
      {
        checkpoint,
        attestations: decodeAttestations(await store.readAttestations()),
        vkey: await readKeyFile(place, KEY_FILES.vkey),
        keys: await readKeyFile(place, KEY_FILES.history),
        entries: readEntries(store, removed?.first ?? 0, size),
        removed,
      },
      { ...options, onProgress: (done) => progress.update(done) },
    );
  } finally {
    progress.finish();
  }
  return size;
}

async function readKeyFile(place: Location, name: string): Promise<string> {
  const file = join(place.keyDirectory, name);
  if (pathExists(file)) return readText(file);
  throw new CountersignError(
    "ERR_CLI_NO_KEYS",
    `${file} does not exist. Fix: name the gateway's key directory with --keys`,
    { directory: place.keyDirectory },
  );
}

/** The entries that the log no longer has; without a signed announcement they count as missing. */
async function findRemoved(store: ReceiptStore): Promise<RemovedSource | undefined> {
  const first = await store.first();
  if (first === 0) return undefined;
  const found = await findRetention(store);
  const announcement = found !== undefined && found.first >= first ? found.seq : first;
  return { first, announcement, readTile: (tile) => store.readTile(tile) };
}

async function* readEntries(
  store: ReceiptStore,
  first: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  for (let start = first; start < size; start += BATCH) {
    yield* await store.readEntries(start, Math.min(start + BATCH, size));
  }
}
