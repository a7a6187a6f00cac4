import { isCountersignError } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { columnText } from "./column-text.js";

/** The index columns of an entry, and its bytes. */
export type IndexedRow = {
  readonly seq: string;
  readonly received_at: string;
  readonly receipt_id: string;
  readonly body: Buffer;
} & Readonly<Record<(typeof ENTRY_COLUMNS)[number], string | boolean | null>>;

/** Selects the rows of a log's entries from one number up to another. */
export function selectIndexedRows(table: string): string {
  return `SELECT seq, received_at, receipt_id, body, ${ENTRY_COLUMNS.join(", ")}
FROM ${table} WHERE log_id = $1 AND seq >= $2 AND seq < $3 ORDER BY seq`;
}

/**
 * The first entry whose columns contradict its bytes. The tree covers the bytes only, and queries
 * use the columns: changing a column hides an entry from every query.
 */
export function firstMismatchedRow(rows: readonly IndexedRow[]): number | undefined {
  const wrong = rows.find((row) => !matchesColumns(row));
  return wrong === undefined ? undefined : Number(wrong.seq);
}

/**
 * Unchanged, or as the column stores it: older versions stored long compressible texts unchanged.
 */
function equalsColumn(filed: unknown, value: string | boolean | null | undefined): boolean {
  return filed === value || (typeof value === "string" && filed === columnText(value));
}

function matchesColumns(row: IndexedRow): boolean {
  try {
    const entry = decodeEntry(row.body);
    if (row.receipt_id !== entry.receipt.id) return false;
    if (Number(row.received_at) !== entry.received_at) return false;
    const values = columnValues(entry);
    return ENTRY_COLUMNS.every((column, index) => equalsColumn(row[column], values[index]));
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    // The hash check reports it.
    return true;
  }
}
