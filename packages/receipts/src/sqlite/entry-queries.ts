import type { CountRequest, CountRow, EntryFilter, PageRequest } from "../query/query.js";
import {
  cursorAfter,
  planPage,
  selectCounts,
  selectEntries,
  selectSome,
  timesOf,
} from "../query/sql.js";
import type { PagePlan, SqlDialect, SqlQuery } from "../query/sql.js";
import type { Blocks } from "./blocks.js";
import type { Database } from "../store/sqlite-engine.js";

/** The positions of a page's entries in the segments. */
export type FoundEntries = {
  readonly places: readonly { position: number; length: number }[];
  readonly cursor?: string;
};

const DIALECT: SqlDialect = {
  placeholder: () => "?",
  flag: (value) => (value ? 1 : 0),
  text: (value) => value,
  // Each kind is compared once, not with every entry.
  contains: (columns, bind) => {
    const kinds = columns.map((column) => `instr(lower(${column}), ${bind()}) > 0`).join(" OR ");
    return `(kind IN (SELECT kind FROM kinds WHERE ${kinds}) OR instr(lower(receipt_id), ${bind()}) > 0)`;
  },
};

// With more kinds than this a matching entry is never far away: scanning the log finds a page
// sooner than collecting and sorting all matches.
const FEW_KINDS = 1_000;
const KINDS_OF_ENTRIES = "entries CROSS JOIN kinds USING (kind)";
const ENTRIES_OF_KINDS = "kinds CROSS JOIN entries INDEXED BY entries_kind USING (kind)";

type Parts = {
  /** The members that are columns of a kind. */
  readonly columns: EntryFilter;
  readonly hasColumns: boolean;
  readonly times: { since?: number; until?: number };
  /** The times and the text to find, which a receipt id may contain as well. */
  readonly rest: EntryFilter;
};

function partsOf(filter: EntryFilter): Parts {
  const { id: _id, since: _since, until: _until, q, ...columns } = filter;
  const hasColumns = Object.values(columns).some((value) => value !== undefined);
  const times = timesOf(filter);
  return { columns, hasColumns, times, rest: q === undefined ? times : { ...times, q } };
}

/** Queries the tables. SQLite has no statistics here, so the join order is explicit. */
export class EntryQueries {
  readonly #database: Database;
  readonly #blocks: Blocks;

  constructor(database: Database, blocks: Blocks) {
    this.#database = database;
    this.#blocks = blocks;
  }

  #all({ sql, parameters }: SqlQuery): Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...(parameters as (string | number)[]));
  }

  /** The matching kinds, when they are few. */
  #fewKinds(columns: EntryFilter): number[] | undefined {
    const source = { columns: "kind", table: "kinds" };
    const rows = this.#all(selectSome(source, columns, FEW_KINDS + 1, DIALECT));
    return rows.length > FEW_KINDS ? undefined : rows.map((row) => Number(row["kind"]));
  }

  #scope(size: number | undefined, { since, until }: Parts["times"] = {}): { scope?: string } {
    const found = this.#blocks.between(since, until);
    if (size !== undefined) found.push(`seq < ${size}`);
    return found.length === 0 ? {} : { scope: found.join(" AND ") };
  }

  /** Finds a page of entries; with `size` only among the first `size` entries. */
  find(filter: EntryFilter, page: PageRequest | undefined, size: number | undefined): FoundEntries {
    const plan = planPage(page);
    const rows = this.#all(this.#select(filter, plan, size));
    const shown = rows.slice(0, plan.limit);
    const places = shown.map((row) => ({
      position: Number(row["position"]),
      length: Number(row["length"]),
    }));
    const last = shown.at(-1);
    if (rows.length <= plan.limit || last === undefined) return { places };
    return { places, cursor: cursorAfter(plan, Number(last["seq"])) };
  }

  #select(filter: EntryFilter, plan: PagePlan, size: number | undefined): SqlQuery {
    const { columns, hasColumns, times, rest } = partsOf(filter);
    const kinds = hasColumns && filter.id === undefined ? this.#fewKinds(columns) : undefined;
    if (kinds === undefined) {
      const table = hasColumns ? KINDS_OF_ENTRIES : "entries";
      const source = { columns: "seq, position, length", table, ...this.#scope(size, times) };
      return selectEntries(source, filter, plan, DIALECT);
    }
    const { scope = "TRUE" } = this.#scope(size);
    const source = {
      columns: "seq",
      table: "entries INDEXED BY entries_kind",
      scope: `kind IN (${kinds.join(", ")}) AND ${scope}`,
    };
    // Only sequence numbers are collected and sorted; then the rows of the page are read.
    const { sql, parameters } = selectEntries(source, rest, plan, DIALECT);
    const order = plan.newest ? "DESC" : "ASC";
    return {
      sql: `SELECT seq, position, length FROM entries WHERE seq IN (${sql}) ORDER BY seq ${order}`,
      parameters,
    };
  }

  /** Counts entries; with `size` only the first `size` entries. */
  count(request: CountRequest, size: number | undefined): CountRow[] {
    const by = request.by ?? [];
    const rows = this.#all(selectCounts(this.#countSource(request, size), request, DIALECT));
    return rows.map((row) => {
      const group = by.map((column) => {
        const value = row[column];
        if (value === null || value === undefined) return null;
        return column === "allowed" ? Number(value) === 1 : String(value);
      });
      const count = Number(row["count"]);
      return request.bucket === undefined
        ? { count, group }
        : { count, from: Number(row["bucket"]), group };
    });
  }

  #countSource(
    { filter = {}, by = [] }: CountRequest,
    size: number | undefined,
  ): { table: string; scope?: string } {
    const { columns, hasColumns, times } = partsOf(filter);
    const isTimed = times.since !== undefined || times.until !== undefined;
    if (!hasColumns && by.length === 0) return { table: "entries", ...this.#scope(size, times) };
    const alongTheLog =
      filter.id !== undefined || (isTimed && this.#fewKinds(columns) === undefined);
    return alongTheLog
      ? { table: KINDS_OF_ENTRIES, ...this.#scope(size, times) }
      : { table: ENTRIES_OF_KINDS, ...this.#scope(size) };
  }
}
