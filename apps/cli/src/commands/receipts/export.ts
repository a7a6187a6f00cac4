import { CountersignError } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { writeExport } from "@countersign/receipts/export";
import type { RemovedSource } from "@countersign/receipts/export";
import { findRetention, readEntriesFrom } from "@countersign/receipts/log";
import type { EntryFilter, ReceiptStore } from "@countersign/receipts/log";
import { decodeAttestations } from "@countersign/receipts/witness";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import pc from "picocolors";
import { COMMAND } from "../../output/command-name.js";
import { createProgress } from "../../output/progress.js";
import { printJson, printLine } from "../../output/print.js";
import "../errors.js";
import { exportRun, exportStatements } from "./export-statements.js";
import type { EntrySpan } from "./export-statements.js";
import { addFilterFlags, filterOf } from "./filter.js";
import type { FilterFlags } from "./filter.js";
import { newestCheckpoint, witnessedCheckpoint } from "./find.js";
import { untilInterrupted } from "./interrupt.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { Location, LocationFlags } from "./location.js";
import { readEntries, readKeyFile } from "./sources.js";

type Flags = LocationFlags &
  FilterFlags & {
    proof?: number[];
    cose?: boolean;
    entries?: EntrySpan;
    inToto?: string;
    witnessed?: boolean;
    json?: boolean;
  };

const EXAMPLE = `
Without --cose the directory has the whole log: tiles, receipts, keys. With --cose it has a transparent statement for each
entry that the flags choose (COSE_Sign1 with an RFC 9942 receipt), signed with the keys of the key directory. --in-toto writes
one signed statement about a run: the hash of its entries, and what was decided. The README in a directory explains how to
verify it, with and without Countersign.

Examples:
  $ countersign receipts export audit-2026-11
  $ countersign receipts export audit-2026-11 --proof 17 --proof 1024
  $ countersign receipts export audit-2026-11 --witnessed
  $ countersign receipts export statements-run-7 --cose --run run-7
  $ countersign receipts export statements-blocked --cose --blocked --since 7d
  $ countersign receipts export statements-100 --cose --entries 100-199
  $ countersign receipts export --run run-7 --in-toto run-7.intoto.json
`;

/** Adds `countersign receipts export`. */
export function registerExport(group: Command): void {
  const command = group
    .command("export")
    .description(
      "write the log for auditors: a directory, transparent statements, or one about a run",
    )
    .argument("[directory]", "new directory to write");
  addFilterFlags(
    addLocationFlags(command)
      .option("--proof <seq>", "also write the proof of this entry (repeatable)", collectNumber)
      .option("--witnessed", "end at the newest checkpoint that witnesses cosigned")
      .option("--cose", "write transparent statements (COSE, SCITT) instead of the log")
      .option("--entries <first-last>", "only these entries, with --cose", readSpan)
      .option("--in-toto <file>", "write one statement (in-toto, DSSE) about the run of --run"),
  )
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(async (directory: string | undefined, flags: Flags) => {
      const place = findLocation(flags);
      const filter = filterOf(flags, Date.now(), place.keyDirectory);
      assertForm(directory, flags, Object.keys(filter));
      if (flags.inToto !== undefined) return writeRun(place, flags.inToto, flags);
      if (directory === undefined)
        throw new TypeError("a directory is missing. Fix: name a new one");
      if (flags.cose === true) return writeCose(place, directory, filter, flags);
      return writeLog(place, directory, flags);
    });
}

/** Each form of the command has its own flags. */
function assertForm(directory: string | undefined, flags: Flags, filtered: string[]): void {
  if (flags.inToto !== undefined) {
    if (flags.run === undefined) throw new TypeError("--in-toto is about one run. Fix: add --run");
    const isMore =
      directory !== undefined ||
      flags.cose === true ||
      flags.proof !== undefined ||
      flags.witnessed === true ||
      flags.entries !== undefined ||
      filtered.some((member) => member !== "run_id" && member !== "thread_id");
    if (!isMore) return;
    throw new TypeError(
      "--in-toto goes with --run and --thread only. Fix: export the rest by itself",
    );
  }
  if (flags.cose === true) {
    if (flags.witnessed === true) {
      throw new TypeError("--witnessed is for an export of the log. Fix: leave out --cose");
    }
    if (flags.proof === undefined) return;
    throw new TypeError(
      "--proof is for an export without --cose: a statement has its proof inside",
    );
  }
  if (flags.entries === undefined && filtered.length === 0) return;
  throw new TypeError(
    "an export of the log always has all entries. Fix: add --cose to export some of them as statements, or --in-toto FILE for a statement about a run",
  );
}

async function writeRun(place: Location, file: string, flags: Flags): Promise<void> {
  const run = { run_id: flags.run ?? "", thread_id: flags.thread };
  const written = await withStore(place, (store) => exportRun(store, place, file, run));
  if (flags.json === true) {
    printJson({ file, ...written });
    return;
  }
  const entries = written.count === 1 ? "1 entry" : `${written.count} entries`;
  printLine(`wrote ${file}: the log's statement about ${entries} of run ${run.run_id}`);
  printLine(
    pc.dim(`Verify it: ${COMMAND} receipts verify ${file} --log-key "$VKEY" --against DIRECTORY`),
  );
}

async function writeCose(
  place: Location,
  directory: string,
  filter: EntryFilter,
  flags: Flags,
): Promise<void> {
  const { written, size } = await withStore(place, (store) =>
    untilInterrupted((signal) =>
      exportStatements(store, place, directory, { filter, span: flags.entries, signal }),
    ),
  );
  if (flags.json === true) {
    printJson({ directory, statements: written, size });
    return;
  }
  const statements =
    written === 1 ? "1 transparent statement" : `${written} transparent statements`;
  printLine(`wrote ${statements} of a log of ${size} entries to ${directory}`);
  if (written === 0) printLine("no entry below the last checkpoint matches the options");
  printLine(pc.dim(`Verify them: ${COMMAND} receipts verify ${directory}`));
}

async function writeLog(place: Location, directory: string, flags: Flags): Promise<void> {
  const { size, beyond } = await withStore(place, async (store) => {
    const written = await untilInterrupted((signal) =>
      exportStore(store, place, directory, {
        proofs: flags.proof ?? [],
        witnessed: flags.witnessed === true,
        signal,
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

function readSpan(text: string): EntrySpan {
  const [, first, last] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (first !== undefined && last !== undefined && Number(first) <= Number(last)) {
    return { first: Number(first), last: Number(last) };
  }
  throw new InvalidArgumentError("Write the first and the last entry, for example 100-199.");
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

/** The entries that the log no longer has; without a signed announcement they count as missing. */
async function findRemoved(store: ReceiptStore): Promise<RemovedSource | undefined> {
  const first = await store.first();
  if (first === 0) return undefined;
  const found = await findRetention(store);
  const announcement = found !== undefined && found.first >= first ? found.seq : first;
  return { first, announcement, readTile: (tile) => store.readTile(tile) };
}
