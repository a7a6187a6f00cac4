import { rmSync } from "node:fs";
import { join } from "node:path";
import { COMMIT_BYTES, decodeCommit } from "../bundles/commit-record.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import type { CountRequest, CountRow, EntryFilter, PageRequest } from "../query/query.js";
import { cursorAfter, planPage, selectCounts, selectEntries } from "../query/sql.js";
import type { SqlDialect } from "../query/sql.js";
import { corrupt } from "../store/failure.js";
import { openDatabase } from "./engine.js";
import type { Database, Statement } from "./engine.js";
import { Names } from "./names.js";
import { SCHEMA, SCHEMA_VERSION } from "./schema.js";
import { SegmentReader } from "./segment-reader.js";

/** Where the entries of a page lie in the segments. */
export type FoundEntries = {
  readonly places: readonly { position: number; length: number }[];
  readonly cursor?: string;
};

/** How far the index has come. */
export type IndexProgress = { readonly size: number; readonly position: number };

const CHUNK = 1 << 20;
const INSERT = `INSERT INTO entries VALUES (${Array.from({ length: 5 + ENTRY_COLUMNS.length }, () => "?").join(", ")})`;

/** The SQLite index of a log: made from the segments, at most behind them, never ahead. */
export class IndexDatabase {
  readonly #database: Database;
  readonly #reader: SegmentReader;
  readonly #names: Names;
  readonly #insert: Statement;
  readonly #saveProgress: Statement;
  readonly #dialect: SqlDialect;
  #progress: IndexProgress;

  private constructor(database: Database, reader: SegmentReader, progress: IndexProgress) {
    this.#database = database;
    this.#reader = reader;
    this.#progress = progress;
    this.#names = new Names(database);
    this.#insert = database.prepare(INSERT);
    this.#saveProgress = database.prepare("REPLACE INTO progress VALUES (1, ?, ?)");
    this.#dialect = {
      placeholder: () => "?",
      encode: (text) => this.#names.find(text),
      flag: (value) => (value ? 1 : 0),
    };
  }

  /** Opens the index beside a log; one that does not fit the log is made anew. */
  static async open(directory: string, log: IndexProgress): Promise<IndexDatabase> {
    const path = join(directory, "index.sqlite");
    const reader = new SegmentReader(join(directory, "segments"));
    const attempt = async (): Promise<IndexDatabase | undefined> => {
      const database = await openDatabase(path);
      // The index can be made again: NORMAL keeps it whole, and no flush of it holds anybody up.
      database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768",
      );
      const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
      database.exec(SCHEMA);
      const progress = readProgress(database);
      if ((progress.size > 0 && version !== SCHEMA_VERSION) || !fits(reader, progress, log)) {
        database.close();
        return undefined;
      }
      database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
      return new IndexDatabase(database, reader, progress);
    };
    const opened = await attempt().catch(() => undefined);
    if (opened !== undefined) return opened;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    const fresh = await attempt();
    if (fresh === undefined) throw new TypeError("a fresh index does not fit the log");
    return fresh;
  }

  /** An index in a database that its caller has prepared. */
  static over(database: Database, reader: SegmentReader): IndexDatabase {
    const index = new IndexDatabase(database, reader, { size: 0, position: 0 });
    index.readProgress();
    return index;
  }

  get progress(): IndexProgress {
    return this.#progress;
  }

  /** Asks the database how far it has come: another process may have gone on. */
  readProgress(): IndexProgress {
    this.#progress = readProgress(this.#database);
    return this.#progress;
  }

  /** Indexes a piece of what is acknowledged; true when there is more to do. */
  follow(log: IndexProgress): boolean {
    const { position } = this.#progress;
    if (position >= log.position) return false;
    let bytes = this.#reader.read(position, Math.min(CHUNK, log.position - position));
    let end = lastCommitEnd(bytes);
    // One flush may be larger than a chunk.
    for (let size = CHUNK * 4; end === 0 && bytes.length < log.position - position; size *= 4) {
      bytes = this.#reader.read(position, Math.min(size, log.position - position));
      end = lastCommitEnd(bytes);
      if (size > 2 ** 31) break;
    }
    if (end === 0) throw corrupt(this.#progress.size, "the index found no commit");
    this.#database.exec("BEGIN");
    try {
      const size = this.#insertRecords(bytes.subarray(0, end), position);
      this.#saveProgress.run(size, position + end);
      this.#database.exec("COMMIT");
      this.#progress = { size, position: position + end };
    } catch (error) {
      this.#names.forget();
      this.#database.exec("ROLLBACK");
      throw error;
    }
    return this.#progress.position < log.position;
  }

  #insertRecords(bytes: Buffer, position: number): number {
    let seq = this.#progress.size;
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt16BE(at);
      if (length === 0) {
        at += COMMIT_BYTES;
        continue;
      }
      const entry = decodeEntry(bytes.subarray(at + 2, at + 2 + length));
      const values = columnValues(entry).map((value) =>
        typeof value === "string"
          ? this.#names.intern(value)
          : value === null
            ? null
            : Number(value),
      );
      this.#insert.run(seq, position + at, length, entry.received_at, entry.receipt.id, ...values);
      at += 2 + length;
      seq += 1;
    }
    return seq;
  }

  /** Finds a page of entries, of the first `size` only when that is given. */
  query(filter: EntryFilter, page: PageRequest | undefined, size?: number): FoundEntries {
    const plan = planPage(page);
    const source = { columns: "seq, position, length", table: "entries", ...scopeOf(size) };
    const { sql, parameters } = selectEntries(source, filter, plan, this.#dialect);
    const rows = this.#database.prepare(sql).all(...(parameters as (string | number)[]));
    const shown = rows.slice(0, plan.limit);
    const places = shown.map((row) => ({
      position: Number(row["position"]),
      length: Number(row["length"]),
    }));
    const last = shown.at(-1);
    if (rows.length <= plan.limit || last === undefined) return { places };
    return { places, cursor: cursorAfter(plan, Number(last["seq"])) };
  }

  /** Counts entries, of the first `size` only when that is given. */
  count(request: CountRequest, size?: number): CountRow[] {
    const source = { table: "entries", ...scopeOf(size) };
    const { sql, parameters } = selectCounts(source, request, this.#dialect);
    const rows = this.#database.prepare(sql).all(...(parameters as (string | number)[]));
    return rows.map((row) => {
      const group = (request.by ?? []).map((column) => {
        const value = row[column];
        if (value === null || value === undefined) return null;
        return column === "allowed" ? Number(value) === 1 : this.#names.text(Number(value));
      });
      const count = Number(row["count"]);
      return request.bucket === undefined
        ? { count, group }
        : { count, from: Number(row["bucket"]), group };
    });
  }

  close(): void {
    this.#reader.close();
    this.#database.close();
  }
}

function readProgress(database: Database): IndexProgress {
  const row = database.prepare("SELECT size, position FROM progress").get();
  return { size: Number(row?.["size"] ?? 0), position: Number(row?.["position"] ?? 0) };
}

function scopeOf(size: number | undefined): { scope?: string } {
  return size === undefined ? {} : { scope: `seq < ${size}` };
}

/** Offset after the last commit record of a run of records; 0 when there is none. */
function lastCommitEnd(bytes: Buffer): number {
  let end = 0;
  for (let at = 0; at + 2 <= bytes.length;) {
    const length = bytes.readUInt16BE(at);
    at += length === 0 ? COMMIT_BYTES : 2 + length;
    if (length === 0 && at <= bytes.length) end = at;
  }
  return end;
}

// A log that lost a relaxed tail may be shorter than its index, or have other bytes there.
function fits(reader: SegmentReader, progress: IndexProgress, log: IndexProgress): boolean {
  if (progress.size > log.size || progress.position > log.position) return false;
  return isCommitEnd(reader, progress);
}

/** Whether a flush of the log ended where an index says it has come to. */
export function isCommitEnd(reader: SegmentReader, progress: IndexProgress): boolean {
  if (progress.size === 0) return progress.position === 0;
  const bytes = reader.read(progress.position - COMMIT_BYTES, COMMIT_BYTES);
  return decodeCommit(bytes, 0)?.size === progress.size;
}
