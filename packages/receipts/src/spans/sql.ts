import {
  ENTRY_COLUMNS,
  invalidQuery,
  MAX_COUNT_ROWS,
  MAX_FIND_LENGTH,
  MAX_PAGE,
} from "../query/query.js";
import type { CountRequest, EntryColumn, EntryFilter, PageRequest } from "../query/query.js";
import { idPrefix } from "./spans.js";

/** The differences between SQL stores. */
export type SqlDialect = {
  /** `?1` or `$1`. */
  placeholder(position: number): string;
  /** How `allowed` is stored. */
  flag(value: boolean): boolean | number;
  /** How a text is stored. */
  text(value: string): string;
  /** The condition that one of the columns contains a bound text, whose ASCII letters are in lower case. */
  contains(columns: readonly string[], bound: string): string;
  /** The condition that the block of a span has ids with one of some prefixes. */
  blocks(prefixes: readonly string[], builder: Builder): string;
  /** The condition that a text column of the kind of a span contains a bound text. */
  kindContains(columns: readonly string[], bound: string): string;
  /** How rows are ordered by a column: absent values first, then by bytes. */
  order(column: string): string;
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
/** Members of a filter that a kind has no column for. */
const SPAN_MEMBERS: ReadonlySet<string> = new Set(["q", "id", "since", "until"]);
const CURSOR = /^([no])(0|[1-9]\d{0,15})$/;

function wholeNumber(member: string, value: unknown, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    throw invalidQuery(member, `not a whole number from ${least} to ${most}`);
  }
  return value as number;
}

/** Collects the parameters of a statement. */
export type Builder = {
  readonly parameters: (string | number | boolean)[];
  bind(value: string | number | boolean): string;
};

/** Starts a statement. */
export function createBuilder(dialect: SqlDialect): Builder {
  const parameters: (string | number | boolean)[] = [];
  return {
    parameters,
    bind(value) {
      parameters.push(value);
      return dialect.placeholder(parameters.length);
    },
  };
}

/** The members of a filter that are columns of a kind, as conditions. */
export function kindConditions(
  filter: EntryFilter,
  dialect: SqlDialect,
  builder: Builder,
): string[] {
  const found: string[] = [];
  for (const [member, value] of Object.entries(filter) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!MEMBERS.has(member)) throw invalidQuery(member.slice(0, 40), "not a known member");
    if (SPAN_MEMBERS.has(member)) continue;
    if (member === "allowed") {
      if (typeof value !== "boolean") throw invalidQuery(member, "not true or false");
      found.push(`allowed = ${builder.bind(dialect.flag(value))}`);
    } else if (member === "would_block") {
      if (typeof value !== "boolean") throw invalidQuery(member, "not true or false");
      const allowed = `allowed = ${builder.bind(dialect.flag(value))}`;
      found.push(value ? `${allowed} AND rule IS NOT NULL` : `(${allowed} OR rule IS NULL)`);
    } else {
      const bound = textsOf(member, value).map((one) => builder.bind(dialect.text(one)));
      found.push(bound.length === 0 ? "1 = 0" : `${member} IN (${bound.join(", ")})`);
    }
  }
  return found;
}

function textsOf(member: string, value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > MAX_VALUES) throw invalidQuery(member, "a list of too many values");
  for (const one of values) if (typeof one !== "string") throw invalidQuery(member, "not text");
  return values as string[];
}

/** The members of a filter that differ from entry to entry, checked. */
export type EntryBounds = {
  readonly since?: number;
  readonly until?: number;
  readonly ids?: readonly string[];
  /** The text to find; ASCII letters are in lower case. */
  readonly text?: string;
};

/** Checks these members. */
export function boundsOf(filter: EntryFilter): EntryBounds {
  const bounds: { -readonly [Member in keyof EntryBounds]: EntryBounds[Member] } = {};
  for (const member of ["since", "until"] as const) {
    const value = filter[member];
    if (value !== undefined) bounds[member] = wholeNumber(member, value, 0, 2 ** 53 - 1);
  }
  if (filter.id !== undefined) bounds.ids = textsOf("id", filter.id);
  const { q } = filter;
  if (q === undefined) return bounds;
  if (typeof q !== "string" || q === "" || q.length > MAX_FIND_LENGTH) {
    throw invalidQuery("q", `not a text of 1 to ${MAX_FIND_LENGTH} characters`);
  }
  return { ...bounds, text: foldAscii(q) };
}

/** Folds ASCII letters only: the same in every store, whatever its locale. */
export function foldAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** How a text is written inside a text of JSON. */
function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The conditions under which a span may have an entry within the bounds. */
export function spanConditions(
  { since, until, ids, text }: EntryBounds,
  dialect: SqlDialect,
  builder: Builder,
): string[] {
  const found: string[] = [];
  if (since !== undefined) found.push(`latest >= ${builder.bind(since)}`);
  if (until !== undefined) found.push(`earliest < ${builder.bind(until)}`);
  if (ids !== undefined) {
    const prefixes = [...new Set(ids.map(idPrefix))];
    const inDetail = ids.map((id) =>
      dialect.contains(["detail"], builder.bind(foldAscii(JSON.stringify(id)))),
    );
    found.push(
      ids.length === 0
        ? "1 = 0"
        : `${dialect.blocks(prefixes, builder)} AND (${inDetail.join(" OR ")})`,
    );
  }
  if (text !== undefined) {
    const inIds = dialect.contains(["detail"], builder.bind(foldAscii(insideJson(text))));
    found.push(`(${isFound(text, dialect, builder)} OR ${inIds})`);
  }
  return found;
}

/** The condition that the kind of a span contains the text to find. */
export function isFound(text: string, dialect: SqlDialect, builder: Builder): string {
  return dialect.kindContains(TEXT_COLUMNS, builder.bind(text));
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

/** The columns and the time bucket to count by, checked. */
export type CountPlan = {
  readonly by: readonly EntryColumn[];
  readonly bucket?: number;
  readonly limit: number;
};

/** Checks a count request. */
export function planCount(request: CountRequest): CountPlan {
  const by: readonly EntryColumn[] = request.by ?? [];
  for (const column of by) if (!COLUMNS.has(column)) throw invalidQuery("by", "not a column");
  if (new Set(by).size !== by.length) throw invalidQuery("by", "the same column twice");
  const limit = wholeNumber("limit", request.limit ?? MAX_COUNT_ROWS, 1, MAX_COUNT_ROWS);
  if (request.bucket === undefined) return { by, limit };
  return { by, limit, bucket: wholeNumber("bucket", request.bucket, 1, 366 * 86_400_000) };
}
