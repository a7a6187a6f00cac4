import { openDatabase } from "@countersign/receipts/sqlite";
import type { Database, Statement } from "@countersign/receipts/sqlite";
import { oldestToRemove, ROW_BYTES, SWEEP_AT_ONCE } from "../evidence-store.js";
import type { EvidenceRow, EvidenceUsage } from "../evidence-store.js";

// NORMAL in WAL mode: a power loss can lose the last copies, and the log is the proof. Removed copies are overwritten,
// and their pages go back to the file system.
const SCHEMA = `
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA busy_timeout = 5000;
PRAGMA journal_size_limit = 67108864;
CREATE TABLE IF NOT EXISTS evidence (
  seq INTEGER PRIMARY KEY, kept_at INTEGER NOT NULL, key_id TEXT NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS evidence_by_age ON evidence (kept_at, seq, size);
`;

/** Selects rows by their numbers, which are given as a JSON array. */
export const READ_EVIDENCE =
  "SELECT seq, kept_at, key_id, bytes FROM evidence WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq";
/** Selects the name of the key of the newest row. */
export const NEWEST_KEY = "SELECT key_id FROM evidence ORDER BY kept_at DESC, seq DESC LIMIT 1";
const REMOVE = "DELETE FROM evidence WHERE seq IN (SELECT value FROM json_each(?))";
const OLDEST = `SELECT seq, size FROM evidence ORDER BY kept_at, seq LIMIT ${SWEEP_AT_ONCE}`;
const EXPIRED = `SELECT seq FROM evidence WHERE kept_at < ? ORDER BY kept_at LIMIT ${SWEEP_AT_ONCE}`;

/** A row as the database has it. */
export function evidenceRowOf(row: Readonly<Record<string, unknown>>): EvidenceRow {
  return {
    seq: Number(row["seq"]),
    keptAt: Number(row["kept_at"]),
    keyId: String(row["key_id"]),
    bytes: row["bytes"] as Uint8Array,
  };
}

/** The embedded evidence store; synchronous, so it belongs into a thread of its own. */
export class EvidenceDatabase {
  readonly #database: Database;
  readonly #put: Statement;

  private constructor(database: Database) {
    this.#database = database;
    this.#put = database.prepare("INSERT OR REPLACE INTO evidence VALUES (?, ?, ?, ?, ?)");
  }

  static async open(file: string): Promise<EvidenceDatabase> {
    const database = await openDatabase(file);
    database.exec(SCHEMA);
    return new EvidenceDatabase(database);
  }

  write(rows: readonly EvidenceRow[]): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const { seq, keptAt, keyId, bytes } of rows) {
        this.#put.run(seq, keptAt, keyId, bytes.length + ROW_BYTES, bytes);
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  read(seqs: readonly number[]): EvidenceRow[] {
    return this.#database.prepare(READ_EVIDENCE).all(JSON.stringify(seqs)).map(evidenceRowOf);
  }

  /** Removes at most {@link SWEEP_AT_ONCE} rows; returns their number. */
  sweep(before: number, maxBytes: number): number {
    const expired = this.#database.prepare(EXPIRED).all(before);
    const { bytes } = this.usage();
    const seqs =
      expired.length > 0
        ? expired.map(({ seq }) => Number(seq))
        : bytes <= maxBytes
          ? []
          : oldestToRemove(
              this.#database
                .prepare(OLDEST)
                .all()
                .map(({ seq, size }) => ({ seq: Number(seq), size: Number(size) })),
              bytes,
              maxBytes,
            );
    if (seqs.length === 0) return 0;
    this.#database.prepare(REMOVE).run(JSON.stringify(seqs));
    // The pages go back to the file system, and removed copies leave the write-ahead log.
    this.#database.exec("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
    return seqs.length;
  }

  usage(): EvidenceUsage {
    const row = this.#database
      .prepare(
        "SELECT count(*) AS records, sum(size) AS bytes, min(kept_at) AS oldest FROM evidence",
      )
      .get();
    const oldest = row?.["oldest"];
    return {
      records: Number(row?.["records"] ?? 0),
      bytes: Number(row?.["bytes"] ?? 0),
      ...(typeof oldest === "number" ? { oldest } : {}),
    };
  }

  newestKey(): string | undefined {
    const row = this.#database.prepare(NEWEST_KEY).get();
    return row === undefined ? undefined : String(row["key_id"]);
  }

  close(): void {
    this.#database.close();
  }
}
