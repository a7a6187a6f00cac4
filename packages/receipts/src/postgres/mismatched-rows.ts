import { isCountersignError } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { expandSpan, idPrefix, SPAN_WIDTH } from "../query/spans.js";
import type { SpanEntry, SpanRow } from "../query/spans.js";
import { columnText } from "./column-text.js";

/** The bytes of an entry. */
export type StoredRow = { readonly seq: string; readonly body: Buffer };

/** Selects the spans that may have entries from one number up to another. */
export function selectSpansOf(spans: string): string {
  return `SELECT * FROM ${spans} WHERE log_id = $1 AND first_seq < $3 AND last_seq >= $2 AND last_seq < $3 + ${SPAN_WIDTH}`;
}

type Indexed = { readonly row: SpanRow; readonly entry: SpanEntry };

/**
 * The first entry from `start` up to `end` that the index does not have exactly once, as its bytes
 * say. The tree covers the bytes only, and queries use the index: changing it hides an entry from
 * every query.
 */
export function firstMismatchedRow(
  stored: readonly StoredRow[],
  spans: readonly SpanRow[],
  start: number,
  end: number,
): number | undefined {
  const wrong: number[] = [];
  const indexed = new Map<number, Indexed>();
  for (const row of spans) {
    const entries = soundEntries(row);
    if (entries === undefined) wrong.push(Math.max(start, Number(row["first_seq"])));
    for (const entry of entries ?? []) {
      if (entry.seq < start || entry.seq >= end) continue;
      if (indexed.has(entry.seq)) wrong.push(entry.seq);
      indexed.set(entry.seq, { row, entry });
    }
  }
  for (const { seq, body } of stored) {
    const number = Number(seq);
    if (!matches(indexed.get(number), body)) wrong.push(number);
    indexed.delete(number);
  }
  // What is left are rows about entries that do not exist.
  wrong.push(...indexed.keys());
  return wrong.length === 0 ? undefined : Math.min(...wrong);
}

/** The entries of a span whose columns fit them. */
function soundEntries(row: SpanRow): SpanEntry[] | undefined {
  try {
    const entries = expandSpan(row);
    const times = entries.map(({ at }) => at);
    const isSound =
      Number(row["last_seq"]) === entries.at(-1)?.seq &&
      Number(row["earliest"]) === Math.min(...times) &&
      Number(row["latest"]) === Math.max(...times) &&
      entries.every(({ id }) => idPrefix(id) === row["id_prefix"]);
    return isSound ? entries : undefined;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return undefined;
  }
}

/**
 * Unchanged, or as the column stores it: older versions stored long compressible texts unchanged.
 */
function equalsColumn(filed: unknown, value: string | boolean | null | undefined): boolean {
  return filed === value || (typeof value === "string" && filed === columnText(value));
}

function matches(indexed: Indexed | undefined, body: Buffer): boolean {
  if (indexed === undefined) return false;
  try {
    const entry = decodeEntry(body);
    if (indexed.entry.id !== entry.receipt.id) return false;
    if (indexed.entry.at !== entry.received_at) return false;
    const values = columnValues(entry);
    return ENTRY_COLUMNS.every((column, at) => equalsColumn(indexed.row[column], values[at]));
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    // The hash check reports it.
    return true;
  }
}
