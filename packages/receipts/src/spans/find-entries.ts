import type { CountRequest, CountRow, EntryFilter, PageRequest } from "../query/query.js";
import { sortCounts } from "./sort-counts.js";
import { expandSpan, SPAN_WIDTH } from "./spans.js";
import type { SpanEntry, SpanRow } from "./spans.js";
import {
  boundsOf,
  createBuilder,
  cursorAfter,
  foldAscii,
  isFound,
  planCount,
  planPage,
  spanConditions,
} from "./sql.js";
import type { Builder, EntryBounds, PagePlan, SqlDialect, SqlQuery } from "./sql.js";

/** A request that asks for rows of statements until it has its result. */
export type Steps<Value> = Generator<SqlQuery, Value, readonly SpanRow[]>;

/** Which spans a statement is about. */
export type SpanScope = {
  readonly filter: EntryFilter;
  readonly bounds: EntryBounds;
  /** Whether columns of the kind are selected. */
  readonly isGrouped: boolean;
};

/** How a store selects from its spans. */
export type SpanTables = {
  readonly dialect: SqlDialect;
  /** Selects up to `limit` spans in the order of their last entries. */
  select(
    scope: SpanScope,
    columns: string,
    conditions: readonly string[],
    order: "ASC" | "DESC",
    limit: number,
    builder: Builder,
  ): Steps<string>;
  /** Counts the entries of whole spans. */
  count(
    scope: SpanScope,
    columns: string,
    conditions: readonly string[],
    builder: Builder,
  ): Steps<string>;
};

/** Sequence numbers from `from` up to, not including, `to`. */
type SeqRange = { readonly from: number; readonly to: number };

// The first spans usually have a page of entries.
const FIRST_SPANS = 32;
const MOST_SPANS = 256;
const SPAN_COLUMNS = "first_seq, last_seq, entries, earliest, latest, detail";
const ALL: SeqRange = { from: 0, to: Number.POSITIVE_INFINITY };

/** The entries of a span that match; the columns of its kind do. */
function matching(
  row: SpanRow,
  { since = 0, until = Number.POSITIVE_INFINITY, ids, text }: EntryBounds,
  range: SeqRange,
): SpanEntry[] {
  const isTextFound = text === undefined || Number(row["found"]) === 1;
  return expandSpan(row).filter(
    ({ seq, at, id }) =>
      seq >= range.from &&
      seq < range.to &&
      at >= since &&
      at < until &&
      (ids === undefined || ids.includes(id)) &&
      (isTextFound || foldAscii(id).includes(text)),
  );
}

function rangeConditions({ from, to }: SeqRange, builder: Builder): string[] {
  const found: string[] = [];
  if (from > 0) found.push(`last_seq >= ${builder.bind(from)}`);
  if (to < Number.POSITIVE_INFINITY) {
    found.push(`first_seq < ${builder.bind(to)}`, `last_seq < ${builder.bind(to + SPAN_WIDTH)}`);
  }
  return found;
}

function foundColumn(bounds: EntryBounds, dialect: SqlDialect, builder: Builder): string {
  if (bounds.text === undefined) return "";
  return `, CASE WHEN ${isFound(bounds.text, dialect, builder)} THEN 1 ELSE 0 END AS found`;
}

/** The entries of a page in its order, and the cursor of the next; `size` limits the log. */
export function* findPage(
  tables: SpanTables,
  filter: EntryFilter,
  page: PageRequest | undefined,
  size: number = Number.POSITIVE_INFINITY,
): Steps<{ entries: SpanEntry[]; cursor?: string }> {
  const plan = planPage(page);
  const bounds = boundsOf(filter);
  const scope = { filter, bounds, isGrouped: false };
  const range = rangeOf(plan, size);
  const wanted = plan.limit + 1;
  const order = plan.newest ? "DESC" : "ASC";
  let found: SpanEntry[] = [];
  let reached: number | undefined;
  for (let limit = FIRST_SPANS; ; limit = Math.min(limit * 4, MOST_SPANS)) {
    const builder = createBuilder(tables.dialect);
    const conditions = rangeConditions(range, builder);
    if (reached !== undefined) {
      conditions.push(`last_seq ${plan.newest ? "<" : ">"} ${builder.bind(reached)}`);
    }
    conditions.push(...spanConditions(bounds, tables.dialect, builder));
    const columns = SPAN_COLUMNS + foundColumn(bounds, tables.dialect, builder);
    const sql = yield* tables.select(scope, columns, conditions, order, limit, builder);
    const rows = yield { sql, parameters: builder.parameters };
    for (const row of rows) found.push(...matching(row, bounds, range));
    found.sort((left, right) => (plan.newest ? right.seq - left.seq : left.seq - right.seq));
    found = found.slice(0, wanted);
    reached = Number(rows.at(-1)?.["last_seq"]);
    const last = found[wanted - 1]?.seq;
    // The spans that were not read yet end behind `reached`, and are narrow.
    const isComplete =
      last !== undefined && (plan.newest ? last >= reached : last < reached - SPAN_WIDTH + 2);
    if (rows.length < limit || isComplete) break;
  }
  const entries = found.slice(0, plan.limit);
  const last = entries.at(-1);
  if (found.length <= plan.limit || last === undefined) return { entries };
  return { entries, cursor: cursorAfter(plan, last.seq) };
}

function rangeOf({ newest, after }: PagePlan, size: number): SeqRange {
  if (after === undefined) return { from: 0, to: size };
  return newest ? { from: 0, to: Math.min(after, size) } : { from: after + 1, to: size };
}

/** Counts of one request, by group. */
class Counts {
  readonly #by: readonly string[];
  readonly #limit: number;
  readonly #isTimed: boolean;
  #rows = new Map<string, CountRow>();

  constructor(by: readonly string[], limit: number, isTimed: boolean) {
    this.#by = by;
    this.#limit = limit;
    this.#isTimed = isTimed;
  }

  add(row: SpanRow, count: number, from: number): void {
    const group = this.#by.map((column) => {
      const value = row[column] ?? null;
      return column === "allowed" ? Number(value) === 1 : (value as string | null);
    });
    const key = JSON.stringify([from, group]);
    const sum = count + (this.#rows.get(key)?.count ?? 0);
    this.#rows.set(key, this.#isTimed ? { count: sum, from, group } : { count: sum, group });
    if (this.#rows.size > 4 * this.#limit) this.#drop();
  }

  // A group beyond the limit stays beyond it: the groups before it only grow.
  #drop(): void {
    this.#rows = new Map(
      this.sorted().map((row) => [JSON.stringify([row.from ?? 0, row.group]), row]),
    );
  }

  sorted(): CountRow[] {
    return sortCounts([...this.#rows.values()]).slice(0, this.#limit);
  }
}

/** Counts entries; `size` limits the log. Only spans that are partly counted are read. */
export function* countEntries(
  tables: SpanTables,
  request: CountRequest,
  size: number = Number.POSITIVE_INFINITY,
): Steps<CountRow[]> {
  const { filter = {} } = request;
  const { by, bucket, limit } = planCount(request);
  const bounds = boundsOf(filter);
  const { dialect } = tables;
  const scope = { filter, bounds, isGrouped: by.length > 0 };
  const range: SeqRange = { ...ALL, to: size };
  const counts = new Counts(by, limit, bucket !== undefined);
  const bucketOf = (time: string): string => `${time} - ${time} % ${bucket ?? 1}`;
  /** The conditions under which every entry of a span counts, in one row. */
  const wholes = (builder: Builder): string[] => {
    const { since, until, ids, text } = bounds;
    const found: string[] = [];
    if (size < Number.POSITIVE_INFINITY) found.push(`last_seq < ${builder.bind(size)}`);
    if (since !== undefined) found.push(`earliest >= ${builder.bind(since)}`);
    if (until !== undefined) found.push(`latest < ${builder.bind(until)}`);
    if (bucket !== undefined) found.push(`${bucketOf("earliest")} = ${bucketOf("latest")}`);
    if (ids !== undefined) found.push("1 = 0");
    if (text !== undefined) found.push(isFound(text, dialect, builder));
    return found;
  };

  if (bounds.ids === undefined) {
    const builder = createBuilder(dialect);
    const columns = bucket === undefined ? by : [`${bucketOf("earliest")} AS bucket`, ...by];
    const groups = bucket === undefined ? by : ["bucket", ...by];
    const orders = groups.map((column) => (column === "bucket" ? column : dialect.order(column)));
    const sql = yield* tables.count(
      scope,
      ["SUM(entries) AS count", ...columns].join(", "),
      wholes(builder),
      builder,
    );
    const grouped =
      groups.length === 0
        ? ""
        : ` GROUP BY ${groups.join(", ")} ORDER BY ${orders.join(", ")} LIMIT ${limit}`;
    const rows = yield { sql: sql + grouped, parameters: builder.parameters };
    for (const row of rows) counts.add(row, Number(row["count"]), Number(row["bucket"] ?? 0));
  }
  for (let reached = -1; wholes(createBuilder(dialect)).length > 0;) {
    const builder = createBuilder(dialect);
    const conditions = [
      `last_seq > ${builder.bind(reached)}`,
      ...rangeConditions(range, builder),
      ...spanConditions(bounds, dialect, builder),
      `NOT (${wholes(builder).join(" AND ")})`,
    ];
    const columns = [SPAN_COLUMNS, ...by].join(", ") + foundColumn(bounds, dialect, builder);
    const sql = yield* tables.select(scope, columns, conditions, "ASC", MOST_SPANS, builder);
    const rows = yield { sql, parameters: builder.parameters };
    for (const row of rows) {
      const found = matching(row, bounds, range);
      if (bucket !== undefined) for (const { at } of found) counts.add(row, 1, at - (at % bucket));
      else if (found.length > 0) counts.add(row, found.length, 0);
    }
    if (rows.length < MOST_SPANS) break;
    reached = Number(rows.at(-1)?.["last_seq"]);
  }
  // Without groups there is always one row.
  if (by.length === 0 && bucket === undefined) counts.add({}, 0, 0);
  return counts.sorted();
}
