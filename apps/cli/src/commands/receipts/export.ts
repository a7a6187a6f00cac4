import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { parseCheckpoint, parseNote } from "@countersign/receipts";
import { writeExport } from "@countersign/receipts/export";
import type { ReceiptStore } from "@countersign/receipts/log";
import type { Command } from "commander";
import { createProgress } from "../../output/progress.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { addPlaceFlags, findPlace, withStore } from "./place.js";
import type { Place, PlaceFlags } from "./place.js";

type Flags = PlaceFlags & { proof?: string[]; json?: boolean };

const BATCH = 1024;
const EXAMPLE = `
The directory has its own README that tells an auditor how to check it with somebody else's tools.

Example:
  $ countersign receipts export audit-2026-11
  $ countersign receipts export audit-2026-11 --proof 17 --proof 1024
`;

/** Adds `countersign receipts export`. */
export function registerExport(group: Command): void {
  const command = group
    .command("export")
    .description("the log as a directory that anybody can verify: tiles, receipts, keys, README")
    .argument("<directory>", "where to write it; must not exist yet");
  addPlaceFlags(command)
    .option("--proof <seq...>", "write a .tlog-proof for these entries too")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(async (directory: string, flags: Flags) => {
      const place = findPlace(flags);
      const size = await withStore(place, (store) =>
        exportStore(store, place, directory, (flags.proof ?? []).map(Number)),
      );
      if (flags.json === true) printJson({ directory, entries: size });
      else printLine(`wrote ${size} entries to ${directory}; its README.md says how to check them`);
    });
}

/** Writes a store's log up to its newest checkpoint; returns the number of entries. */
export async function exportStore(
  store: ReceiptStore,
  place: Place,
  directory: string,
  proofs: readonly number[] = [],
): Promise<number> {
  const checkpoint = await store.readCheckpoint();
  if (checkpoint === undefined) {
    throw new CountersignError(
      "ERR_CLI_NO_CHECKPOINT",
      "the log has no signed checkpoint yet; the gateway signs one every second while it grows",
      {},
    );
  }
  const { size } = parseCheckpoint(parseNote(checkpoint).text);
  const progress = createProgress("exporting", size);
  await writeExport(
    directory,
    {
      checkpoint,
      vkey: await readFile(join(place.keyDirectory, KEY_FILES.vkey), "utf8"),
      keys: await readFile(join(place.keyDirectory, KEY_FILES.history), "utf8"),
      entries: readEntries(store, size),
    },
    { proofs, onProgress: (done) => progress.update(done) },
  );
  progress.finish();
  return size;
}

async function* readEntries(store: ReceiptStore, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += BATCH) {
    yield* await store.readEntries(start, Math.min(start + BATCH, size));
  }
}
