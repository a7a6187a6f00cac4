import { ENTRY_COLUMNS, invalidQuery, MAX_COUNT_ROWS, MAX_FIND_LENGTH, MAX_PAGE } from "./query.js";
import type { CountRequest, EntryColumn, EntryFilter, PageRequest } from "./query.js";

/** The differences between SQL stores. */
export type SqlDialect = {
  /** `?` or `$1`. */
  placeholder(position: number): string;
  /** How `allowed` is stored. */
  flag(value: boolean): boolean | number;
  /** How a text is stored. */
  text(value: string): string;
  /** The condition that a column or the receipt id contains a text; `bind` binds it with ASCII letters in lower case. */
  contains(columns: readonly string[], bind: () => string): string;
};

/** A statement and its parameters. */
export type SqlQuery = { readonly sql: string; readonly parameters: (string | number | boolean)[] };

const MAX_VALUES = 100;
const COLUMNS: ReadonlySet<string> = new Set(ENTRY_COLUMNS);
const TEXT_COLUMNS: readonly string[] = ENTRY_COLUMNS.filter((column) => column !== "allowed");
const MEMBERS: ReadonlySet<string> = new Set([
  ...ENTRY_COLUMNS,
  "would_block",
  "q",
  "id",
  "since",
  "until",
]);
const CURSOR = /^([no])(0|[1-9]\d{0,15})$/;

function wholeNumber(member: string, value: unknown, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    throw invalidQuery(member, `not a whole number from ${least} to ${most}`);
  }
  return value as number;
}

type Builder = {
  readonly parameters: (string | number | boolean)[];
  bind(value: string | number | boolean): string;
};

function createBuilder(dialect: SqlDialect): Builder {
  const parameters: (string | number | boolean)[] = [];
  return {
    parameters,
    bind(value) {
      parameters.push(value);
      return dialect.placeholder(parameters.length);
    },
  };
}

/** The times of a filter, checked. */
export function timesOf(filter: EntryFilter): { since?: number; until?: number } {
  const times: { since?: number; until?: number } = {};
  for (const member of ["since", "until"] as const) {
    const value = filter[member];
    if (value !== undefined) times[member] = wholeNumber(member, value, 0, 2 ** 53 - 1);
  }
  return times;
}

function conditions(filter: EntryFilter, dialect: SqlDialect, builder: Builder): string[] {
  const found: string[] = [];
  const { since, until } = timesOf(filter);
  if (since !== undefined) found.push(`received_at >= ${builder.bind(since)}`);
  if (until !== undefined) found.push(`received_at < ${builder.bind(until)}`);
  for (const [member, value] of Object.entries(filter) as [string, unknown][]) {
    if (value === undefined || member === "since" || member === "until") continue;
    if (!MEMBERS.has(member)) throw invalidQuery(member.slice(0, 40), "not a known member");
    if (member === "allowed") {
      if (typeof value !== "boolean") throw invalidQuery(member, "not true or false");
      found.push(`allowed = ${builder.bind(dialect.flag(value))}`);
    } else if (member === "q") {
      found.push(dialect.contains(TEXT_COLUMNS, bindFolded(value, builder)));
    } else if (member === "would_block") {
      if (typeof value !== "boolean") throw invalidQuery(member, "not true or false");
      const allowed = `allowed = ${builder.bind(dialect.flag(value))}`;
      found.push(value ? `${allowed} AND rule IS NOT NULL` : `(${allowed} OR rule IS NULL)`);
    } else {
      const values: unknown[] = Array.isArray(value) ? value : [value];
      if (values.length > MAX_VALUES) throw invalidQuery(member, "a list of too many values");
      const bound = values.map((one) => {
        if (typeof one !== "string") throw invalidQuery(member, "not text");
        return builder.bind(dialect.text(one));
      });
      const column = member === "id" ? "receipt_id" : member;
      found.push(bound.length === 0 ? "1 = 0" : `${column} IN (${bound.join(", ")})`);
    }
  }
  return found;
}

/** Folds ASCII letters only: the same in every store, whatever its locale. */
function foldAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function bindFolded(value: unknown, builder: Builder): () => string {
  if (typeof value !== "string" || value === "" || value.length > MAX_FIND_LENGTH) {
    throw invalidQuery("q", `not a text of 1 to ${MAX_FIND_LENGTH} characters`);
  }
  return () => builder.bind(foldAscii(value));
}

function where(found: readonly string[]): string {
  return found.length === 0 ? "" : ` WHERE ${found.join(" AND ")}`;
}

/** Selects some of the matching rows, in any order. */
export function selectSome(
  source: { columns: string; table: string },
  filter: EntryFilter,
  limit: number,
  dialect: SqlDialect,
): SqlQuery {
  const builder = createBuilder(dialect);
  const found = conditions(filter, dialect, builder);
  const sql = `SELECT ${source.columns} FROM ${source.table}${where(found)} LIMIT ${limit}`;
  return { sql, parameters: builder.parameters };
}

/** A page with its defaults filled in. */
export type PagePlan = {
  readonly limit: number;
  readonly newest: boolean;
  readonly after?: number;
};

/** Checks a page request. */
export function planPage(page: PageRequest = {}): PagePlan {
  const limit = wholeNumber("limit", page.limit ?? 100, 1, MAX_PAGE);
  const order = page.order ?? "newest";
  if (order !== "newest" && order !== "oldest") throw invalidQuery("order", "not newest or oldest");
  const newest = order === "newest";
  if (page.cursor === undefined) return { limit, newest };
  const match = CURSOR.exec(page.cursor);
  if (match === null || (match[1] === "n") !== newest)
    throw invalidQuery("cursor", "not of this query");
  return { limit, newest, after: Number(match[2]) };
}

/** The cursor that continues after an entry. */
export function cursorAfter(plan: PagePlan, seq: number): string {
  return `${plan.newest ? "n" : "o"}${seq}`;
}

/** Selects one entry more than the page holds, to detect the last page. */
export function selectEntries(
  source: { columns: string; table: string; scope?: string },
  filter: EntryFilter,
  plan: PagePlan,
  dialect: SqlDialect,
): SqlQuery {
  const builder = createBuilder(dialect);
  const found = conditions(filter, dialect, builder);
  if (source.scope !== undefined) found.unshift(source.scope);
  if (plan.after !== undefined) {
    found.push(`seq ${plan.newest ? "<" : ">"} ${builder.bind(plan.after)}`);
  }
  const order = plan.newest ? "DESC" : "ASC";
  const sql = `SELECT ${source.columns} FROM ${source.table}${where(found)} ORDER BY seq ${order} LIMIT ${plan.limit + 1}`;
  return { sql, parameters: builder.parameters };
}

/** Counts by columns and time buckets. */
export function selectCounts(
  source: { table: string; scope?: string },
  request: CountRequest,
  dialect: SqlDialect,
): SqlQuery {
  const builder = createBuilder(dialect);
  const by: readonly EntryColumn[] = request.by ?? [];
  for (const column of by) if (!COLUMNS.has(column)) throw invalidQuery("by", "not a column");
  if (new Set(by).size !== by.length) throw invalidQuery("by", "the same column twice");
  const limit = wholeNumber("limit", request.limit ?? MAX_COUNT_ROWS, 1, MAX_COUNT_ROWS);
  const groups = [...by] as string[];
  const columns = [...groups];
  if (request.bucket !== undefined) {
    const width = wholeNumber("bucket", request.bucket, 1, 366 * 86_400_000);
    columns.unshift(`received_at - received_at % ${width} AS bucket`);
    groups.unshift("bucket");
  }
  const found = conditions(request.filter ?? {}, dialect, builder);
  if (source.scope !== undefined) found.unshift(source.scope);
  const grouped =
    groups.length === 0 ? "" : ` GROUP BY ${groups.join(", ")} ORDER BY ${groups.join(", ")}`;
  const sql = `SELECT ${["COUNT(*) AS count", ...columns].join(", ")} FROM ${source.table}${where(found)}${grouped} LIMIT ${limit}`;
  return { sql, parameters: builder.parameters };
}
