import { isCountersignError } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { filedText } from "./filed-text.js";

/** The columns of an entry beside its bytes. */
export type FiledRow = {
  readonly seq: string;
  readonly received_at: string;
  readonly receipt_id: string;
  readonly body: Buffer;
} & Readonly<Record<(typeof ENTRY_COLUMNS)[number], string | boolean | null>>;

/** What to ask for, of the entries of a log from a number up to another. */
export const FILED_ROWS = `SELECT seq, received_at, receipt_id, body, ${ENTRY_COLUMNS.join(", ")}
FROM countersign_entries WHERE log_id = $1 AND seq >= $2 AND seq < $3 ORDER BY seq`;

/**
 * The first entry whose columns say something else than its bytes. Bytes are covered by the tree; by columns entries are
 * found and counted, and whoever changes one hides an entry from every question.
 */
export function firstMisfiled(rows: readonly FiledRow[]): number | undefined {
  const wrong = rows.find((row) => !isFiled(row));
  return wrong === undefined ? undefined : Number(wrong.seq);
}

/** As it is, or as the column takes it: long texts that a database could compress stand there as they are. */
function isFiledAs(filed: unknown, value: string | boolean | null | undefined): boolean {
  return filed === value || (typeof value === "string" && filed === filedText(value));
}

function isFiled(row: FiledRow): boolean {
  try {
    const entry = decodeEntry(row.body);
    if (row.receipt_id !== entry.receipt.id) return false;
    if (Number(row.received_at) !== entry.received_at) return false;
    const values = columnValues(entry);
    return ENTRY_COLUMNS.every((column, index) => isFiledAs(row[column], values[index]));
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    // Told by its hash.
    return true;
  }
}
