import { isCountersignError } from "@countersign/core";
import type { PoolClient } from "pg";
import { decodeEntry } from "../entry/decode-entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { BLOCK_WIDTH, expandSpan, idPrefix, SPAN_WIDTH } from "../spans/spans.js";
import type { SpanEntry, SpanRow } from "../spans/spans.js";
import { columnText } from "./column-text.js";
import { SPANS } from "./span-tables.js";

type Indexed = { readonly row: SpanRow; readonly entry: SpanEntry };

/**
 * The first entry from `start` up to `end` that the index does not have exactly once, as its bytes
 * say. The tree covers the bytes only, and queries use the index: changing it hides an entry from
 * every query.
 */
export async function findMismatch(
  client: PoolClient,
  { logId, spans }: { readonly logId: number; readonly spans: string },
  start: number,
  end: number,
): Promise<number | undefined> {
  const range = [logId, start, end];
  const stored = await client.query<{ seq: string; body: Buffer }>(
    "SELECT seq, body FROM countersign_entries WHERE log_id = $1 AND seq >= $2 AND seq < $3",
    range,
  );
  const { rows } = await client.query<SpanRow>(
    `SELECT * FROM ${spans} WHERE log_id = $1 AND first_seq < $3 AND last_seq >= $2 AND last_seq < $3 + ${SPAN_WIDTH}`,
    range,
  );
  const wrong: number[] = [];
  const indexed = new Map<number, Indexed>();
  for (const row of rows) {
    const entries = soundEntries(row);
    if (entries === undefined) wrong.push(Math.max(start, Number(row["first_seq"])));
    for (const entry of entries ?? []) {
      if (entry.seq < start || entry.seq >= end) continue;
      if (indexed.has(entry.seq)) wrong.push(entry.seq);
      indexed.set(entry.seq, { row, entry });
    }
  }
  // A database of an older version has no prefixes.
  if (spans === SPANS) wrong.push(...(await withoutPrefix(client, logId, indexed)));
  for (const { seq, body } of stored.rows) {
    const number = Number(seq);
    if (!matches(indexed.get(number), body)) wrong.push(number);
    indexed.delete(number);
  }
  // The others are about entries that do not exist.
  wrong.push(...indexed.keys());
  return wrong.length === 0 ? undefined : Math.min(...wrong);
}

/** The entries of a span whose other columns fit them. */
function soundEntries(row: SpanRow): SpanEntry[] | undefined {
  try {
    const entries = expandSpan(row);
    const times = entries.map(({ at }) => at);
    const isSound =
      Number(row["last_seq"]) === entries.at(-1)?.seq &&
      Number(row["earliest"]) === Math.min(...times) &&
      Number(row["latest"]) === Math.max(...times);
    return isSound ? entries : undefined;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return undefined;
  }
}

/** The entries that cannot be found by their ids. */
async function withoutPrefix(
  client: PoolClient,
  logId: number,
  indexed: ReadonlyMap<number, Indexed>,
): Promise<number[]> {
  const wanted = new Map<string, { prefix: string; block: number; seqs: number[] }>();
  for (const [seq, { row, entry }] of indexed) {
    const prefix = idPrefix(entry.id);
    const block = Math.floor(Number(row["last_seq"]) / BLOCK_WIDTH);
    const known = wanted.get(`${block} ${prefix}`);
    if (known === undefined) wanted.set(`${block} ${prefix}`, { prefix, block, seqs: [seq] });
    else known.seqs.push(seq);
  }
  const pairs = [...wanted.values()];
  const { rows } = await client.query<{ prefix: string; block: string }>(
    "SELECT prefix, block FROM countersign_prefixes JOIN unnest($2::text[], $3::bigint[]) AS pair (prefix, block) USING (prefix, block) WHERE log_id = $1",
    [logId, pairs.map(({ prefix }) => prefix), pairs.map(({ block }) => block)],
  );
  for (const { prefix, block } of rows) wanted.delete(`${block} ${prefix}`);
  return [...wanted.values()].flatMap(({ seqs }) => seqs);
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
