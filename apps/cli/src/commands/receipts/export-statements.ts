import { writeFile } from "node:fs/promises";
import { CountersignError } from "@countersign/core";
import { signRunStatement, writeStatements } from "@countersign/receipts/export";
import type { RunName } from "@countersign/receipts/export";
import type { EntryFilter, ReceiptStore } from "@countersign/receipts/log";
import { requireFolder } from "../../files/path-exists.js";
import { createProgress } from "../../output/progress.js";
import "../errors.js";
import type { Location } from "./location.js";
import { findEntries, numberEntries, readStatementSource } from "./sources.js";

/** Entries from the first to the last, both included. */
export type EntrySpan = { readonly first: number; readonly last: number };

/** Which entries become statements. */
export type StatementChoice = {
  readonly filter: EntryFilter;
  readonly span: EntrySpan | undefined;
  readonly signal: AbortSignal;
};

/** Writes transparent statements of a log's entries; returns their number and the size of the tree. */
export async function exportStatements(
  store: ReceiptStore,
  place: Location,
  directory: string,
  { filter, span, signal }: StatementChoice,
): Promise<{ size: number; written: number }> {
  const source = await readStatementSource(store, place);
  const { size } = source;
  const first = Math.max(span?.first ?? 0, await store.first());
  const end = Math.min(span === undefined ? size : span.last + 1, size);
  const isFiltered = Object.keys(filter).length > 0;
  const progress = createProgress("exporting", isFiltered ? size : end - first);
  const entries = isFiltered
    ? findEntries(store, filter, first, end)
    : numberEntries(store, first, end);
  try {
    return await writeStatements(directory, source, entries, {
      signal,
      onProgress: (done) => progress.update(done),
    });
  } finally {
    progress.finish();
  }
}

/** Writes the statement of the log about one run. */
export async function exportRun(
  store: ReceiptStore,
  place: Location,
  file: string,
  run: { readonly run_id: string; readonly thread_id?: string | undefined },
): Promise<{ count: number; size: number; transcript: string }> {
  requireFolder("--in-toto", file);
  const source = await readStatementSource(store, place);
  const name = await nameRun(store, run);
  const first = await store.first();
  const entries = findEntries(store, { ...name }, first, source.size);
  const signed = await signRunStatement({ ...source, first }, name, entries);
  if (signed === undefined) throw noEntries(run.run_id);
  await writeFile(file, `${signed.envelope}\n`);
  const { facts, size } = signed;
  return { count: facts.entries.count, size, transcript: facts.transcript };
}

/** The run that an id means: ids of runs are chosen by clients, and two threads may use the same one. */
async function nameRun(
  store: ReceiptStore,
  { run_id, thread_id }: { readonly run_id: string; readonly thread_id?: string | undefined },
): Promise<RunName> {
  if (thread_id !== undefined) return { run_id, thread_id };
  const rows = await store.count({ filter: { run_id }, by: ["thread_id"], limit: 3 });
  const threads = rows.map(({ group }) => group[0]);
  if (threads.length === 0) throw noEntries(run_id);
  const [thread] = threads;
  if (threads.length === 1)
    return typeof thread === "string" ? { run_id, thread_id: thread } : { run_id };
  throw new CountersignError(
    "ERR_CLI_NO_RUN",
    `more than one thread has a run ${run_id}. Fix: add --thread, for example --thread ${String(threads.find((one) => one !== null))}`,
    { run: run_id },
  );
}

function noEntries(run: string): CountersignError {
  return new CountersignError(
    "ERR_CLI_NO_RUN",
    `the log has no entry of the run ${run} below its last checkpoint. Fix: find its id with countersign receipts list`,
    { run },
  );
}
