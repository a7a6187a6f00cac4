import { ENTRY_COLUMNS } from "../query/query.js";

/** Raised when the tables change: an index of another version is thrown away and made again. */
export const SCHEMA_VERSION = 1;

// Texts stand once in `names` and as numbers everywhere else: a row is about 100 bytes instead of 900,
// which is half the insert cost. `seq` is the rowid, so each index ends in log order by itself.
const COLUMNS = ENTRY_COLUMNS.map((column) => `${column} INTEGER`).join(", ");

/** Tables of the index. Everything but `foreign_receipts` can be made again from the segments. */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS names (name_id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE IF NOT EXISTS entries (
  seq INTEGER PRIMARY KEY, position INTEGER NOT NULL, length INTEGER NOT NULL,
  received_at INTEGER NOT NULL, receipt_id TEXT NOT NULL, ${COLUMNS}
) STRICT;
CREATE INDEX IF NOT EXISTS entries_id ON entries (receipt_id);
CREATE INDEX IF NOT EXISTS entries_at ON entries (received_at);
CREATE INDEX IF NOT EXISTS entries_session ON entries (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS entries_run ON entries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS entries_agent ON entries (agent_id, received_at);
CREATE INDEX IF NOT EXISTS entries_type ON entries (event_type, received_at);
CREATE INDEX IF NOT EXISTS entries_class ON entries (classification, target_type, received_at);
CREATE INDEX IF NOT EXISTS entries_target ON entries (target_id, received_at) WHERE target_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS entries_rule ON entries (rule, received_at) WHERE rule IS NOT NULL;
CREATE INDEX IF NOT EXISTS entries_capability ON entries (capability_id, received_at);
CREATE INDEX IF NOT EXISTS entries_blocked ON entries (received_at) WHERE allowed = 0;
CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), size INTEGER NOT NULL, position INTEGER NOT NULL) STRICT;
`;

/** Kept in a database of its own: this one cannot be made again from the log. */
export const FOREIGN_SCHEMA = `
CREATE TABLE IF NOT EXISTS foreign_receipts (
  hash TEXT PRIMARY KEY, protocol TEXT NOT NULL, receipt_id TEXT, session_id TEXT, agent_id TEXT,
  at INTEGER, signer TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS foreign_session ON foreign_receipts (session_id);
CREATE INDEX IF NOT EXISTS foreign_agent ON foreign_receipts (agent_id);
`;
