import { join } from "node:path";
import { CountersignError } from "@countersign/core";
import { createSigner } from "@countersign/core/sign";
import { KEY_FILES, readKey } from "@countersign/gateway";
import type { KeyPurpose } from "@countersign/gateway";
import type { NumberedEntry, StatementSource } from "@countersign/receipts/export";
import type { EntryFilter, ReceiptStore } from "@countersign/receipts/log";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import "../errors.js";
import { newestCheckpoint } from "./find.js";
import type { Location } from "./location.js";

/** Entries that are read at once. */
const BATCH = 1_000;

/** A file of the key directory. */
export async function readKeyFile(place: Location, name: string): Promise<string> {
  const file = join(place.keyDirectory, name);
  if (pathExists(file)) return readText(file);
  throw noKey(place, file);
}

function noKey(place: Location, file: string): CountersignError {
  return new CountersignError(
    "ERR_CLI_NO_KEYS",
    `${file} does not exist. Fix: name the gateway's key directory with --keys`,
    { directory: place.keyDirectory },
  );
}

async function readSigner(
  place: Location,
  purpose: KeyPurpose,
): Promise<ReturnType<typeof createSigner>> {
  const file = join(place.keyDirectory, `${purpose}.pem`);
  if (!pathExists(file)) throw noKey(place, file);
  return createSigner(await readKey(file));
}

/** The log at its newest checkpoint, with the keys that sign statements about it. */
export async function readStatementSource(
  store: ReceiptStore,
  place: Location,
): Promise<StatementSource & { readonly size: number }> {
  const { text: checkpoint, size } = await newestCheckpoint(store);
  return {
    checkpoint,
    size,
    vkey: await readKeyFile(place, KEY_FILES.vkey),
    keys: await readKeyFile(place, KEY_FILES.history),
    readTile: (tile) => store.readTile(tile),
    issuer: await readSigner(place, "receipts"),
    log: await readSigner(place, "checkpoint"),
  };
}

/** Entries from the first up to, not including, the end. */
export async function* readEntries(
  store: ReceiptStore,
  first: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  for (let start = first; start < end; start += BATCH) {
    yield* await store.readEntries(start, Math.min(start + BATCH, end));
  }
}

/** Entries of a range with their numbers. */
export async function* numberEntries(
  store: ReceiptStore,
  first: number,
  end: number,
): AsyncGenerator<NumberedEntry> {
  let seq = first;
  for await (const bytes of readEntries(store, first, end)) {
    yield { seq, bytes };
    seq += 1;
  }
}

/** Entries of a range that match a filter, oldest first. */
export async function* findEntries(
  store: ReceiptStore,
  filter: EntryFilter,
  first: number,
  end: number,
): AsyncGenerator<NumberedEntry> {
  let cursor: string | undefined;
  do {
    const page = await store.query(filter, {
      limit: BATCH,
      order: "oldest",
      ...(cursor === undefined ? {} : { cursor }),
    });
    // The bytes of the log, not what the index says about them.
    const found = page.entries.map(({ seq }) => seq).filter((seq) => seq >= first && seq < end);
    for (const [from, to] of neighbours(found)) yield* numberEntries(store, from, to);
    if ((page.entries.at(-1)?.seq ?? 0) >= end) return;
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/** Ascending numbers as ranges, each with its end: consecutive entries are read at once. */
function neighbours(numbers: readonly number[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number) last[1] = number + 1;
    else ranges.push([number, number + 1]);
  }
  return ranges;
}
