import { ENTRY_COLUMNS } from "../query/query.js";
import type { EntryColumn } from "../query/query.js";

const TEXT_COLUMNS = ENTRY_COLUMNS.filter((column) => column !== "allowed");

/** Columns of an entry that are text, in insert order. */
export const PG_TEXT_COLUMNS: readonly string[] = TEXT_COLUMNS;

/** Text columns that databases of older versions lack; the next writer adds them. */
export const ADDED_COLUMNS: readonly EntryColumn[] = [
  "principal",
  "client_address",
  "tool",
  "path",
];

/**
 * Tables of the shared store, where the rows are the source of truth. `countersign_logs` has one
 * row per log; its row lock serializes the gateways.
 */
export const PG_SCHEMA = `
CREATE TABLE IF NOT EXISTS countersign_logs (
  log_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  size bigint NOT NULL DEFAULT 0,
  frontier bytea NOT NULL DEFAULT ''::bytea,
  checkpoint text,
  checkpoint_size bigint NOT NULL DEFAULT -1,
  seal bytea,
  key_history text,
  first_entry bigint NOT NULL DEFAULT 0
);
-- Checked first: an ALTER waits for all appends in progress and blocks new ones meanwhile.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'countersign_logs'::regclass AND attname = 'key_history')
  THEN ALTER TABLE countersign_logs ADD COLUMN seal bytea, ADD COLUMN key_history text; END IF;
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'countersign_logs'::regclass AND attname = 'first_entry')
  THEN ALTER TABLE countersign_logs ADD COLUMN first_entry bigint NOT NULL DEFAULT 0; END IF;
END $$;
CREATE TABLE IF NOT EXISTS countersign_entries (
  log_id integer NOT NULL,
  seq bigint NOT NULL,
  received_at bigint NOT NULL,
  leaf bytea NOT NULL,
  body bytea NOT NULL,
  receipt_id text NOT NULL,
  allowed boolean NOT NULL,
  ${TEXT_COLUMNS.map((column) => `${column} text`).join(", ")},
  PRIMARY KEY (log_id, seq)
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'countersign_entries'::regclass AND attname = '${ADDED_COLUMNS.at(-1)}')
  THEN ALTER TABLE countersign_entries ${ADDED_COLUMNS.map((column) => `ADD COLUMN ${column} text`).join(", ")}; END IF;
END $$;
CREATE TABLE IF NOT EXISTS countersign_hashes (
  log_id integer NOT NULL, level smallint NOT NULL, position bigint NOT NULL, hash bytea NOT NULL,
  PRIMARY KEY (log_id, level, position)
);
CREATE TABLE IF NOT EXISTS countersign_foreign (
  log_id integer NOT NULL, hash text NOT NULL, protocol text NOT NULL, receipt_id text,
  session_id text, agent_id text, at bigint, signer text NOT NULL, body text NOT NULL,
  PRIMARY KEY (log_id, hash)
);
CREATE INDEX IF NOT EXISTS countersign_entries_id ON countersign_entries (receipt_id);
CREATE INDEX IF NOT EXISTS countersign_entries_at ON countersign_entries (log_id, received_at);
CREATE INDEX IF NOT EXISTS countersign_entries_session ON countersign_entries (session_id, seq);
CREATE INDEX IF NOT EXISTS countersign_entries_run ON countersign_entries (run_id, seq);
CREATE INDEX IF NOT EXISTS countersign_entries_agent ON countersign_entries (agent_id, received_at);
CREATE INDEX IF NOT EXISTS countersign_entries_class ON countersign_entries (classification, target_type, received_at);
CREATE INDEX IF NOT EXISTS countersign_entries_rule ON countersign_entries (rule, received_at) WHERE rule IS NOT NULL;
CREATE INDEX IF NOT EXISTS countersign_entries_principal ON countersign_entries (principal, received_at) WHERE principal IS NOT NULL;
CREATE INDEX IF NOT EXISTS countersign_entries_capability ON countersign_entries (capability_id, received_at) WHERE capability_id <> '<none>';
CREATE INDEX IF NOT EXISTS countersign_entries_target ON countersign_entries (target_id, received_at) WHERE target_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS countersign_entries_blocked ON countersign_entries (log_id, received_at) WHERE NOT allowed;
CREATE INDEX IF NOT EXISTS countersign_foreign_session ON countersign_foreign (session_id);
CREATE INDEX IF NOT EXISTS countersign_foreign_agent ON countersign_foreign (agent_id);
`;
