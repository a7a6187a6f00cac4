import type { SpanScope, SpanTables, Steps } from "../spans/find-entries.js";
import type { EntryFilter } from "../query/query.js";
import { BLOCK_WIDTH } from "../spans/spans.js";
import { createBuilder, kindConditions } from "../spans/sql.js";
import type { SqlDialect } from "../spans/sql.js";
import type { Blocks } from "./blocks.js";

const contains: SqlDialect["contains"] = (columns, bound) =>
  columns.map((column) => `instr(lower(${column}), ${bound}) > 0`).join(" OR ");

const DIALECT: SqlDialect = {
  placeholder: (position) => `?${position}`,
  flag: (value) => (value ? 1 : 0),
  text: (value) => value,
  contains,
  blocks: (prefixes, builder) =>
    `last_seq IN (SELECT other.last_seq FROM prefixes CROSS JOIN spans AS other ON other.last_seq >= block * ${BLOCK_WIDTH} AND other.last_seq < (block + 1) * ${BLOCK_WIDTH} WHERE prefix IN (${prefixes.map((one) => builder.bind(one)).join(", ")}))`,
  // Each kind is compared once, not with every span.
  kindContains: (columns, bound) =>
    `kind IN (SELECT kind FROM kinds WHERE ${contains(columns, bound)})`,
  order: (column) => column,
};

// With more kinds than this a matching span is never far away: scanning the log finds a page
// sooner than collecting and sorting all matches.
const FEW_KINDS = 1_000;
const KINDS_OF_SPANS = "spans CROSS JOIN kinds USING (kind)";
const SPANS_OF_KINDS = "kinds CROSS JOIN spans INDEXED BY spans_kind USING (kind)";

/** Whether a filter has members that are columns of a kind. */
function hasColumns({ id: _id, since: _since, until: _until, q: _q, ...columns }: EntryFilter) {
  return Object.values(columns).some((value) => value !== undefined);
}

/** The matching kinds, when they are few. */
function* fewKinds(filter: EntryFilter): Steps<number[] | undefined> {
  const builder = createBuilder(DIALECT);
  const where = kindConditions(filter, DIALECT, builder).join(" AND ");
  const sql = `SELECT kind FROM kinds WHERE ${where} LIMIT ${FEW_KINDS + 1}`;
  const rows = yield { sql, parameters: builder.parameters };
  return rows.length > FEW_KINDS ? undefined : rows.map((row) => Number(row["kind"]));
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** Selects from the index. SQLite has no statistics here, so the join order is explicit. */
export function spanTables(blocks: Blocks): SpanTables {
  const within = ({ bounds: { since, until } }: SpanScope): string[] =>
    blocks.between(since, until);
  return {
    dialect: DIALECT,
    *select(scope, columns, conditions, order, limit, builder) {
      const isFiltered = hasColumns(scope.filter);
      const isById = scope.bounds.ids !== undefined;
      const kinds = isFiltered && !isById ? yield* fewKinds(scope.filter) : undefined;
      const found = [...conditions];
      let table = "spans";
      if (kinds !== undefined) {
        table = "spans INDEXED BY spans_kind";
        found.push(`kind IN (${kinds.join(", ")})`);
      } else {
        if (isFiltered) {
          table += " CROSS JOIN kinds USING (kind)";
          found.push(...kindConditions(scope.filter, DIALECT, builder));
        }
        if (!isById) found.push(...within(scope));
      }
      // Only numbers are collected and sorted; then the rows of the spans are read.
      const keys = `SELECT last_seq FROM ${table}${where(found)} ORDER BY last_seq ${order} LIMIT ${limit}`;
      const from = scope.isGrouped ? KINDS_OF_SPANS : "spans";
      return `SELECT ${columns} FROM ${from} WHERE last_seq IN (${keys}) ORDER BY last_seq ${order}`;
    },
    *count(scope, columns, conditions, builder) {
      const { since, until } = scope.bounds;
      const isFiltered = hasColumns(scope.filter);
      const isTimed = since !== undefined || until !== undefined;
      const isAlongTheLog =
        isTimed && (!isFiltered || (yield* fewKinds(scope.filter)) === undefined);
      const found = [...conditions, ...(isAlongTheLog ? within(scope) : [])];
      if (isFiltered) found.push(...kindConditions(scope.filter, DIALECT, builder));
      const joined = isAlongTheLog ? KINDS_OF_SPANS : SPANS_OF_KINDS;
      const table = isFiltered || scope.isGrouped ? joined : "spans";
      return `SELECT ${columns} FROM ${table}${where(found)}`;
    },
  };
}
