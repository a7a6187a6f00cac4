import { statSync } from "node:fs";
import type { JsonValue } from "@countersign/core";
import { decodeEntry } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { openPostgresStore } from "@countersign/receipts/postgres";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { readJsonLines } from "./read-json.js";

/** Lines of a recording, and how many of them were not even JSON. */
export type RecordingLines = { readonly lines: readonly JsonValue[]; readonly broken: number };

const BATCH = 1000;

/** Reads a capture (JSON lines, `-` for standard input), or a receipt store by directory or address. */
export async function readRecordingLines(
  source: string,
  limit: number,
  log = "",
): Promise<RecordingLines> {
  if (/^postgres(?:ql)?:\/\//.test(source)) {
    if (log === "")
      throw new TypeError("a database can hold several logs. Fix: name one with --log");
    return readStore(
      await openPostgresStore({ url: source, log, connections: 1, readOnly: true }),
      limit,
    );
  }
  const directory = source.startsWith("sqlite:") ? source.slice("sqlite:".length) : source;
  if (source !== "-" && statSync(directory).isDirectory()) {
    return readStore(await openSqliteStore({ directory, readOnly: true }), limit);
  }
  const all = readJsonLines(source);
  const lines = all.filter((line) => line !== undefined).slice(0, limit);
  return { lines, broken: all.filter((line) => line === undefined).length };
}

async function readStore(store: ReceiptStore, limit: number): Promise<RecordingLines> {
  try {
    const { size } = await store.head();
    const lines: JsonValue[] = [];
    // The newest entries: what a change of policy would have meant lately.
    for (let start = Math.max(0, size - limit); start < size; start += BATCH) {
      const entries = await store.readEntries(start, Math.min(start + BATCH, size));
      for (const bytes of entries) lines.push(decodeEntry(bytes) as unknown as JsonValue);
    }
    return { lines, broken: 0 };
  } finally {
    await store.close();
  }
}
