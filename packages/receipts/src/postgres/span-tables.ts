import type { SpanScope, SpanTables } from "../spans/find-entries.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import { BLOCK_WIDTH } from "../spans/spans.js";
import { kindConditions } from "../spans/sql.js";
import type { Builder, SqlDialect } from "../spans/sql.js";
import { columnText } from "./column-text.js";
import type { Connections } from "./connections.js";
import { OLD_COLUMNS } from "./schema.js";

// In the C collation `lower` changes ASCII letters only.
const contains: SqlDialect["contains"] = (columns, bound) =>
  columns.map((column) => `strpos(lower(${column} COLLATE "C"), ${bound}) > 0`).join(" OR ");

const DIALECT: Omit<SqlDialect, "blocks"> = {
  placeholder: (position) => `$${position}`,
  flag: (value) => value,
  text: columnText,
  contains,
  kindContains: (columns, bound) => `COALESCE(${contains(columns, bound)}, FALSE)`,
  order: (column) =>
    column === "allowed" ? "allowed NULLS FIRST" : `${column} COLLATE "C" NULLS FIRST`,
};

/** The spans with the columns of their kinds. */
export const SPANS = "countersign_spans JOIN countersign_kinds USING (log_id, kind)";

const SPAN_NAMES = "log_id, kind, last_seq, first_seq, entries, earliest, latest, detail";

/**
 * The spans, for a reader that must not change a database of an older version: there each row of
 * entries has the columns of its own span, unless a writer of this version has indexed it.
 */
export function findSpans({ withClient }: Connections): Promise<string> {
  return withClient(async (client) => {
    const { rows } = await client.query<{ attname: string; indexed: boolean }>(
      `SELECT attname, to_regclass('countersign_spans') IS NOT NULL AS indexed FROM pg_attribute
       WHERE attrelid = 'countersign_entries'::regclass AND attname = ANY($1)`,
      [OLD_COLUMNS],
    );
    if (rows.length === 0) return SPANS;
    const found = new Set(rows.map((row) => row.attname));
    const columns = ENTRY_COLUMNS.map((name) => (found.has(name) ? name : `NULL::text AS ${name}`));
    const older = `SELECT log_id, seq AS kind, seq AS last_seq, seq AS first_seq, 1 AS entries,
      received_at AS earliest, received_at AS latest,
      json_build_array(0, received_at, receipt_id)::text AS detail, ${columns.join(", ")}
      FROM countersign_entries AS entry`;
    if (rows[0]?.indexed !== true) return `(${older}) AS spans`;
    return `(SELECT ${SPAN_NAMES}, ${ENTRY_COLUMNS.join(", ")} FROM ${SPANS} UNION ALL ${older}
      WHERE seq >= (SELECT indexed FROM countersign_logs AS log WHERE log.log_id = entry.log_id)) AS spans`;
  });
}

/** Selects from the spans of one log. */
export function spanTables(logId: number, spans: string): SpanTables {
  const blocks: SqlDialect["blocks"] = (prefixes, builder) =>
    `last_seq IN (SELECT other.last_seq FROM countersign_prefixes AS one JOIN countersign_spans AS other
      ON other.log_id = one.log_id AND other.last_seq >= block * ${BLOCK_WIDTH} AND other.last_seq < (block + 1) * ${BLOCK_WIDTH}
      WHERE one.log_id = ${logId} AND prefix IN (${prefixes.map((one) => builder.bind(one)).join(", ")}))`;
  // Rows of an older version have no prefixes.
  const dialect: SqlDialect = { ...DIALECT, blocks: spans === SPANS ? blocks : () => "TRUE" };
  const from = (
    scope: SpanScope,
    columns: string,
    conditions: readonly string[],
    builder: Builder,
  ): string => {
    const found = kindConditions(scope.filter, dialect, builder);
    const isJoined =
      found.length > 0 || scope.isGrouped || scope.bounds.text !== undefined || spans !== SPANS;
    const where = [`log_id = ${logId}`, ...found, ...conditions].join(" AND ");
    return `SELECT ${columns} FROM ${isJoined ? spans : "countersign_spans"} WHERE ${where}`;
  };
  return {
    dialect,
    // oxlint-disable-next-line require-yield -- The other store asks for kinds first.
    *select(scope, columns, conditions, order, limit, builder) {
      const sql = from(scope, columns, conditions, builder);
      return `${sql} ORDER BY last_seq ${order} LIMIT ${limit}`;
    },
    // oxlint-disable-next-line require-yield
    *count(scope, columns, conditions, builder) {
      return from(scope, columns, conditions, builder);
    },
  };
}
