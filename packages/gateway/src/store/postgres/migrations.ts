import type { Migration } from "@countersign/receipts/postgres";

/**
 * All changes of the gateway's tables in PostgreSQL, oldest first. A new change goes to the end, and
 * gateways of the version before must be able to use the changed table: they run beside the new ones
 * during an upgrade.
 *
 * The receipt log has its own tables and changes: commands open it without a gateway. One table,
 * `countersign_schema`, has the versions of all.
 */
export const MIGRATIONS: readonly Migration[] = [
  // The keyed store. Its partition column is called `thread`: the first rows were those of threads.
  {
    adds: "countersign_threads.written_at",
    sql: `CREATE TABLE IF NOT EXISTS countersign_threads (
        ledger text NOT NULL, thread text NOT NULL, written_at bigint NOT NULL, PRIMARY KEY (ledger, thread));
      CREATE INDEX IF NOT EXISTS countersign_threads_by_age ON countersign_threads (ledger, written_at);`,
  },
  {
    adds: "countersign_facts.value",
    sql: `CREATE TABLE IF NOT EXISTS countersign_facts (
        ledger text NOT NULL, thread text NOT NULL, kind text NOT NULL, id text NOT NULL, value text NOT NULL,
        PRIMARY KEY (ledger, thread, kind, id));`,
  },
  {
    adds: "countersign_revocations.revoked_at",
    sql: `CREATE TABLE IF NOT EXISTS countersign_revocations (
        log text NOT NULL, serial bigint GENERATED ALWAYS AS IDENTITY, capability_id text NOT NULL,
        revoked_at bigint NOT NULL, PRIMARY KEY (log, capability_id));
      CREATE INDEX IF NOT EXISTS countersign_revocations_by_serial ON countersign_revocations (log, serial);`,
  },
  {
    adds: "countersign_revocations.expires_at",
    sql: "ALTER TABLE countersign_revocations ADD COLUMN IF NOT EXISTS expires_at bigint",
  },
  {
    adds: "countersign_budgets.expires_at",
    sql: `CREATE TABLE IF NOT EXISTS countersign_budgets (
        log text NOT NULL, capability_id text NOT NULL, taken bigint NOT NULL, given bigint NOT NULL,
        opened bigint NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (log, capability_id));
      CREATE INDEX IF NOT EXISTS countersign_budgets_by_end ON countersign_budgets (log, expires_at);`,
  },
  // Unlogged: gateways write all of it again after a crash of the database, and no write waits for the disk.
  {
    adds: "countersign_gateways.facts",
    sql: `CREATE UNLOGGED TABLE IF NOT EXISTS countersign_gateways (
        log text NOT NULL, gateway text NOT NULL, seen_at bigint NOT NULL, facts text NOT NULL,
        PRIMARY KEY (log, gateway));`,
  },
  {
    adds: "countersign_gateway_sessions.view",
    sql: `CREATE UNLOGGED TABLE IF NOT EXISTS countersign_gateway_sessions (
        log text NOT NULL, gateway text NOT NULL, session text NOT NULL, last_seen bigint NOT NULL,
        view text NOT NULL, PRIMARY KEY (log, gateway, session));`,
  },
  {
    adds: "countersign_orders.answers",
    sql: `CREATE UNLOGGED TABLE IF NOT EXISTS countersign_orders (
        log text NOT NULL, serial bigint GENERATED ALWAYS AS IDENTITY, id text NOT NULL, asker text NOT NULL,
        body text NOT NULL, made_at bigint NOT NULL, answers text[] NOT NULL DEFAULT '{}',
        PRIMARY KEY (log, serial));
      CREATE INDEX IF NOT EXISTS countersign_orders_by_id ON countersign_orders (log, id);`,
  },
  // Logged, unlike the tables before: no gateway would write the tokens again after a crash.
  {
    adds: "countersign_handed_tokens.expires_at",
    sql: `CREATE TABLE IF NOT EXISTS countersign_handed_tokens (
        log text NOT NULL, name text NOT NULL, sealed text NOT NULL, handed_at bigint NOT NULL,
        expires_at bigint NOT NULL, PRIMARY KEY (log, name));
      CREATE INDEX IF NOT EXISTS countersign_handed_tokens_by_time
        ON countersign_handed_tokens (log, handed_at, name);`,
  },
  {
    adds: "countersign_velocity.empty_at",
    sql: `CREATE TABLE IF NOT EXISTS countersign_velocity (
        log text NOT NULL, key text NOT NULL, count text NOT NULL, empty_at bigint NOT NULL,
        PRIMARY KEY (log, key));
      CREATE INDEX IF NOT EXISTS countersign_velocity_by_end ON countersign_velocity (log, empty_at);`,
  },
  {
    adds: "countersign_budgets.leases",
    sql: "ALTER TABLE countersign_budgets ADD COLUMN IF NOT EXISTS leases text NOT NULL DEFAULT '[]'",
  },
];

/** The table of the evidence store, which exists only where evidence is switched on. */
export const EVIDENCE_MIGRATIONS: readonly Migration[] = [
  {
    adds: "countersign_evidence.bytes",
    sql: `CREATE TABLE IF NOT EXISTS countersign_evidence (
        log text NOT NULL, seq bigint NOT NULL, kept_at bigint NOT NULL, key_id text NOT NULL,
        size integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (log, seq));
      CREATE INDEX IF NOT EXISTS countersign_evidence_by_age ON countersign_evidence (log, kept_at, seq);`,
  },
];
