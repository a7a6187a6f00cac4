import { ENTRY_COLUMNS } from "../query/query.js";
import type { Migration } from "./migrate.js";

/** The columns of a kind with their types. */
const COLUMNS = ENTRY_COLUMNS.map(
  (column) => `${column} ${column === "allowed" ? "boolean" : "text"}`,
).join(", ");

/** Columns of entries in databases of older versions, which had no spans. */
export const OLD_COLUMNS: readonly string[] = ["received_at", "receipt_id", ...ENTRY_COLUMNS];

/** Whether the table of entries has them. */
export const HAS_OLD_COLUMNS =
  "EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'countersign_entries'::regclass AND attname = 'received_at')";

/**
 * All changes of the tables of the log, oldest first. A new change goes to the end.
 *
 * The rows are the source of truth. `countersign_logs` has one row per log; its row lock serializes
 * the gateways. A row of `countersign_spans` stands for many entries; `countersign_kinds` has what
 * they have in common.
 */
export const LOG_MIGRATIONS: readonly Migration[] = [
  {
    adds: "countersign_logs.checkpoint_size",
    sql: `CREATE TABLE countersign_logs (
      log_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL UNIQUE,
      size bigint NOT NULL DEFAULT 0,
      frontier bytea NOT NULL DEFAULT ''::bytea,
      checkpoint text,
      checkpoint_size bigint NOT NULL DEFAULT -1
    )`,
  },
  {
    adds: "countersign_entries.body",
    sql: `CREATE TABLE countersign_entries (
      log_id integer NOT NULL,
      seq bigint NOT NULL,
      leaf bytea NOT NULL,
      body bytea NOT NULL,
      PRIMARY KEY (log_id, seq)
    )`,
  },
  {
    adds: "countersign_logs.key_history",
    sql: "ALTER TABLE countersign_logs ADD COLUMN seal bytea, ADD COLUMN key_history text",
  },
  {
    adds: "countersign_logs.first_entry",
    sql: "ALTER TABLE countersign_logs ADD COLUMN first_entry bigint NOT NULL DEFAULT 0",
  },
  {
    adds: "countersign_hashes.hash",
    sql: `CREATE TABLE countersign_hashes (
      log_id integer NOT NULL, level smallint NOT NULL, position bigint NOT NULL, hash bytea NOT NULL,
      PRIMARY KEY (log_id, level, position)
    )`,
  },
  {
    adds: "countersign_foreign.body",
    sql: `CREATE TABLE countersign_foreign (
      log_id integer NOT NULL, hash text NOT NULL, protocol text NOT NULL, receipt_id text,
      session_id text, agent_id text, at bigint, signer text NOT NULL, body text NOT NULL,
      PRIMARY KEY (log_id, hash)
    );
    CREATE INDEX countersign_foreign_session ON countersign_foreign (session_id);
    CREATE INDEX countersign_foreign_agent ON countersign_foreign (agent_id)`,
  },
  {
    adds: "countersign_kinds.log_id",
    sql: `CREATE TABLE countersign_kinds (
      log_id integer NOT NULL, kind bigint NOT NULL, ${COLUMNS},
      PRIMARY KEY (log_id, kind)
    );
    CREATE INDEX countersign_kinds_session ON countersign_kinds (session_id) WHERE session_id IS NOT NULL;
    CREATE INDEX countersign_kinds_run ON countersign_kinds (run_id) WHERE run_id IS NOT NULL;
    CREATE INDEX countersign_kinds_principal ON countersign_kinds (principal) WHERE principal IS NOT NULL;
    CREATE INDEX countersign_kinds_target ON countersign_kinds (target_id) WHERE target_id IS NOT NULL;
    CREATE INDEX countersign_kinds_blocked ON countersign_kinds (log_id) WHERE NOT allowed`,
  },
  {
    adds: "countersign_spans.detail",
    sql: `CREATE TABLE countersign_spans (
      log_id integer NOT NULL, last_seq bigint NOT NULL, first_seq bigint NOT NULL, kind bigint NOT NULL,
      entries integer NOT NULL, earliest bigint NOT NULL, latest bigint NOT NULL, detail text NOT NULL,
      PRIMARY KEY (log_id, last_seq)
    );
    CREATE INDEX countersign_spans_kind ON countersign_spans (log_id, kind, last_seq);
    CREATE INDEX countersign_spans_at ON countersign_spans (log_id, latest)`,
  },
  {
    adds: "countersign_prefixes.block",
    sql: `CREATE TABLE countersign_prefixes (
      log_id integer NOT NULL, prefix text NOT NULL, block bigint NOT NULL,
      PRIMARY KEY (log_id, prefix, block)
    )`,
  },
  {
    adds: "countersign_logs.indexed",
    sql: `ALTER TABLE countersign_logs ADD COLUMN indexed bigint NOT NULL DEFAULT 0;
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'countersign_entries'::regclass AND attname = 'received_at' AND attnotnull)
      THEN ALTER TABLE countersign_entries ALTER COLUMN received_at DROP NOT NULL, ALTER COLUMN receipt_id DROP NOT NULL, ALTER COLUMN allowed DROP NOT NULL; END IF;
    END $$`,
  },
  {
    adds: "countersign_leaf_tiles.hashes",
    sql: `CREATE TABLE countersign_leaf_tiles (
      log_id integer NOT NULL, tile bigint NOT NULL, hashes bytea NOT NULL,
      PRIMARY KEY (log_id, tile)
    )`,
  },
  {
    adds: "countersign_logs.next_part",
    sql: "ALTER TABLE countersign_logs ADD COLUMN part bigint NOT NULL DEFAULT -1, ADD COLUMN next_part bigint NOT NULL DEFAULT -1",
  },
  {
    adds: "countersign_attestations.record",
    sql: `CREATE TABLE countersign_attestations (
      log_id integer PRIMARY KEY, record text, holder text, held_until timestamptz
    )`,
  },
];
