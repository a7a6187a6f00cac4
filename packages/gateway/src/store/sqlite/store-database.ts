import type { JsonObject } from "@countersign/core";
import { openDatabase } from "@countersign/receipts/sqlite";
import type { Database, Statement } from "@countersign/receipts/sqlite";
import { areAllNew } from "../keyed-store.js";
import type {
  Claimed,
  RowClaim,
  RowKind,
  RowName,
  RowsOfClaim,
  StoredRow,
} from "../keyed-store.js";
import { parseStored, decodeText, encodeText } from "../stored-text.js";

// NORMAL in WAL mode: a commit survives the end of the process. A loss of power can lose the last
// commits, never the file; the gateway later rejects messages that it lost, and accepts none that
// was not delivered. 16 MB between two checkpoints: each flushes the disk three times, and the
// receipts wait for it.
// The partition column is called `thread`, because the first rows were those of threads.
const SCHEMA = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA busy_timeout = 5000;
PRAGMA wal_autocheckpoint = 4000;
CREATE TABLE IF NOT EXISTS threads (thread TEXT PRIMARY KEY, written_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS threads_by_age ON threads (written_at);
CREATE TABLE IF NOT EXISTS facts (
  thread TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (thread, kind, id)
) WITHOUT ROWID;
`;

/** Decodes rows in the thread that requested them. */
export function decodeRows(text: string): StoredRow[] {
  return (parseStored(text) as [RowKind, string, JsonObject][]).map(([kind, id, value]) => ({
    kind,
    id: decodeText(id),
    value,
  }));
}

/** The result of claims, with the rows as JSON. */
export type ClaimResult = Pick<Claimed, "known"> & { readonly rows: string };

/** Partitions removed in one transaction, so that the removal does not delay writers. */
const FORGET_AT_ONCE = 200;

/** The database; synchronous, so it belongs into a thread of its own. */
export class StoreDatabase {
  readonly #database: Database;
  readonly #touch: Statement;
  readonly #put: Statement;
  readonly #remove: Statement;
  readonly #read: Statement;
  readonly #find: Statement;

  private constructor(database: Database) {
    this.#database = database;
    this.#touch = database.prepare(
      `INSERT INTO threads VALUES (?, ?)
       ON CONFLICT DO UPDATE SET written_at = max(written_at, excluded.written_at)`,
    );
    this.#put = database.prepare(
      "INSERT INTO facts VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    );
    this.#remove = database.prepare("DELETE FROM facts WHERE thread = ? AND kind = ? AND id = ?");
    // One text for all rows: transferring 2,000 objects between threads took longer than reading them.
    this.#read = database.prepare(
      `SELECT '[' || coalesce(group_concat('["' || kind || '",' || json_quote(id) || ',' || value || ']'), '')
       || ']' AS rows FROM facts WHERE thread = ? AND kind <> 'run'`,
    );
    this.#find = database.prepare(
      "SELECT value FROM facts WHERE thread = ? AND kind = ? AND id = ?",
    );
  }

  static async open(file: string): Promise<StoreDatabase> {
    const database = await openDatabase(file);
    database.exec(SCHEMA);
    return new StoreDatabase(database);
  }

  /** The rows of a partition as JSON; see {@link decodeRows}. */
  #rowsOf(partition: string): string {
    return this.#read.get(encodeText(partition))?.["rows"] as string;
  }

  write(
    partition: string,
    rows: readonly StoredRow[],
    removed: readonly RowName[],
    now: number,
  ): void {
    this.#transaction(() => {
      const key = encodeText(partition);
      for (const { kind, id } of removed) this.#remove.run(key, kind, encodeText(id));
      this.#putAll(key, rows, now);
    });
  }

  claim(
    claims: readonly RowClaim[],
    reading: string | undefined,
    then: RowsOfClaim | undefined,
    now: number,
  ): ClaimResult {
    let result: ClaimResult = { known: [], rows: "[]" };
    this.#transaction(() => {
      const rows = reading === undefined ? "[]" : this.#rowsOf(reading);
      const known = claims.map((claim) => this.#claim(claim, now));
      if (then !== undefined && areAllNew(known)) {
        this.#putAll(encodeText(then.partition), then.rows, now);
      }
      result = { known, rows };
    });
    return result;
  }

  #putAll(key: string, rows: readonly StoredRow[], now: number): void {
    this.#touch.run(key, now);
    for (const { kind, id, value } of rows) {
      this.#put.run(key, kind, encodeText(id), JSON.stringify(value));
    }
  }

  #claim({ partition, row, isLookup }: RowClaim, now: number): JsonObject | undefined {
    const key = encodeText(partition);
    const id = encodeText(row.id);
    const found = this.#find.get(key, row.kind, id);
    if (found !== undefined) return parseStored(found["value"] as string) as JsonObject;
    if (isLookup === true) return undefined;
    this.#touch.run(key, now);
    this.#put.run(key, row.kind, id, JSON.stringify(row.value));
    return undefined;
  }

  forget(before: number): number {
    const old = this.#database
      .prepare("SELECT thread FROM threads WHERE written_at < ? LIMIT ?")
      .all(before, FORGET_AT_ONCE);
    this.#transaction(() => {
      for (const { thread } of old) {
        this.#database.prepare("DELETE FROM facts WHERE thread = ?").run(thread as string);
        this.#database.prepare("DELETE FROM threads WHERE thread = ?").run(thread as string);
      }
    });
    return old.length;
  }

  close(): void {
    this.#database.close();
  }

  #transaction(work: () => void): void {
    // IMMEDIATE takes the write lock first: a claim that reads first must not fail at its write.
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}
