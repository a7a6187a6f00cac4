import { ENTRY_COLUMNS } from "../query/query.js";

/** Incremented when the tables change: an index of another version is deleted and rebuilt. */
export const SCHEMA_VERSION = 4;

const COLUMNS = ENTRY_COLUMNS.map(
  (column) => `${column} ${column === "allowed" ? "INTEGER" : "TEXT"}`,
).join(", ");

// A row of `spans` stands for many entries: the common values of a stream's entries are in `kinds`,
// the others in `detail`. Measured in docs/decisions/2026-11-19-index-of-spans.md.
/** Tables of the index. They can be rebuilt from the segments. */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS kinds (kind INTEGER PRIMARY KEY, ${COLUMNS}) STRICT;
CREATE INDEX IF NOT EXISTS kinds_session ON kinds (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS kinds_run ON kinds (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS kinds_principal ON kinds (principal) WHERE principal IS NOT NULL;
CREATE INDEX IF NOT EXISTS kinds_target ON kinds (target_id) WHERE target_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS kinds_blocked ON kinds (allowed) WHERE allowed = 0;
CREATE TABLE IF NOT EXISTS spans (
  last_seq INTEGER PRIMARY KEY, first_seq INTEGER NOT NULL, kind INTEGER NOT NULL, entries INTEGER NOT NULL,
  earliest INTEGER NOT NULL, latest INTEGER NOT NULL, detail TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS spans_kind ON spans (kind, last_seq, entries);
CREATE TABLE IF NOT EXISTS prefixes (prefix TEXT NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (prefix, block)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (block INTEGER PRIMARY KEY, earliest INTEGER NOT NULL, latest INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), size INTEGER NOT NULL, position INTEGER NOT NULL) STRICT;
`;

/** In a separate database: it cannot be rebuilt from the log. */
export const FOREIGN_SCHEMA = `
CREATE TABLE IF NOT EXISTS foreign_receipts (
  hash TEXT PRIMARY KEY, protocol TEXT NOT NULL, receipt_id TEXT, session_id TEXT, agent_id TEXT,
  at INTEGER, signer TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS foreign_session ON foreign_receipts (session_id);
CREATE INDEX IF NOT EXISTS foreign_agent ON foreign_receipts (agent_id);
`;
