import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  COMMIT_BYTES,
  COMMIT_LENGTHS,
  commitLength,
  decodeCommit,
} from "../bundles/commit-record.js";
import { decodeRemoved, REMOVED_FILE } from "../bundles/sealed.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { countEntries, findPage } from "../spans/find-entries.js";
import type { SpanTables, Steps } from "../spans/find-entries.js";
import { BLOCK_WIDTH, SpanBuilder } from "../spans/spans.js";
import type { CountRequest, CountRow, EntryFilter, PageRequest } from "../query/query.js";
import { corrupt } from "../store/failure.js";
import { Blocks } from "./blocks.js";
import { openDatabase } from "../store/sqlite-engine.js";
import type { Database, Statement } from "../store/sqlite-engine.js";
import { quickParseEntry } from "./quick-parse-entry.js";
import { Kinds } from "./kinds.js";
import { spanTables } from "./span-tables.js";
import { SpanRows } from "./span-rows.js";
import { SCHEMA, SCHEMA_VERSION } from "./schema.js";
import { SegmentReader } from "./segment-reader.js";

/** The state up to which the log is indexed. */
export type IndexProgress = { readonly size: number; readonly position: number };

/** The positions of a page's entries in the segments. */
export type FoundEntries = {
  readonly places: readonly { position: number; length: number }[];
  readonly cursor?: string;
};

/** Bytes of the log per transaction: half a second of work. */
const CHUNK = 1 << 23;
/** Rows that one statement removes; queries wait no longer than that. */
const REMOVED_ROWS = 2_000;

/** Where the entries of a log start: after those that were removed because of their age. */
export function startOfLog(directory: string): IndexProgress & { readonly first: number } {
  const path = join(directory, REMOVED_FILE);
  const removed = existsSync(path) ? decodeRemoved(readFileSync(path, "utf8")) : undefined;
  return {
    size: removed?.frontier.size ?? 0,
    position: removed?.position ?? 0,
    first: removed?.first ?? 0,
  };
}

/** The SQLite index of a log: built from the segments; it may lag, but never lead. */
export class IndexDatabase {
  readonly #database: Database;
  readonly #reader: SegmentReader;
  readonly #kinds: Kinds;
  readonly #blocks: Blocks;
  readonly #tables: SpanTables;
  readonly #spans = new SpanBuilder();
  readonly #rows: SpanRows;
  readonly #saveProgress: Statement;
  readonly #removeKinds: Statement;
  #progress: IndexProgress;

  private constructor(database: Database, reader: SegmentReader, progress: IndexProgress) {
    this.#database = database;
    this.#reader = reader;
    this.#progress = progress;
    this.#removeKinds = database.prepare(
      "DELETE FROM kinds WHERE kind > ? AND kind <= ? AND NOT EXISTS (SELECT 1 FROM spans WHERE spans.kind = kinds.kind)",
    );
    this.#kinds = new Kinds(database);
    this.#blocks = new Blocks(database);
    this.#tables = spanTables(this.#blocks);
    this.#rows = new SpanRows(database);
    this.#saveProgress = database.prepare("REPLACE INTO progress VALUES (1, ?, ?)");
  }

  /** Opens the index of a log; one that does not match the log is rebuilt. */
  static async open(directory: string, log: IndexProgress): Promise<IndexDatabase> {
    const path = join(directory, "index.sqlite");
    const reader = new SegmentReader(join(directory, "segments"));
    const start = startOfLog(directory);
    const attempt = async (): Promise<IndexDatabase | undefined> => {
      const database = await openDatabase(path);
      // The index can be rebuilt: NORMAL keeps it consistent, and its syncs delay no append.
      database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768",
      );
      const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
      // A new file has version 0.
      if (version === 0 || version === SCHEMA_VERSION) {
        database.exec(SCHEMA);
        database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
        const progress = readProgress(database, start);
        if (fits(reader, progress, log, start)) {
          return new IndexDatabase(database, reader, progress);
        }
      }
      database.close();
      return undefined;
    };
    const opened = await attempt().catch(() => undefined);
    if (opened !== undefined) return opened;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    const fresh = await attempt();
    if (fresh === undefined) throw new TypeError("a fresh index does not fit the log");
    return fresh;
  }

  /** An index over a database that the caller has prepared. */
  static over(database: Database, reader: SegmentReader, start: IndexProgress): IndexDatabase {
    return new IndexDatabase(database, reader, readProgress(database, start));
  }

  get progress(): IndexProgress {
    return this.#progress;
  }

  /** Reads the progress from the database: another process may have advanced it. */
  readProgress(): IndexProgress {
    this.#progress = readProgress(this.#database, this.#progress);
    return this.#progress;
  }

  /** Removes some rows of the entries before `first`; true when more are left. */
  removeRows(first: number): boolean {
    if (this.#rows.remove(first, REMOVED_ROWS) > 0) return true;
    this.#rows.trim(first);
    this.#database.exec(`DELETE FROM blocks WHERE block < ${Math.floor(first / BLOCK_WIDTH)}`);
    return false;
  }

  /**
   * Removes the kinds after `kind` that no entry has any more, up to a number of kinds; returns the
   * last one looked at, or undefined at the end.
   */
  removeKinds(kind: number): number | undefined {
    const last = Number(
      this.#database.prepare("SELECT max(kind) AS kind FROM kinds").get()?.["kind"],
    );
    if (!(kind < last)) return undefined;
    this.#removeKinds.run(kind, kind + REMOVED_ROWS);
    // A removed kind must get a new row when its encoding occurs again.
    this.#kinds.forget();
    return kind + REMOVED_ROWS;
  }

  /** Indexes one chunk of the acknowledged log; true when more is left. */
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
      this.#spans.forget();
      this.#kinds.forget();
      this.#database.exec("ROLLBACK");
      throw error;
    }
    return this.#progress.position < log.position;
  }

  #insertRecords(bytes: Buffer, position: number): number {
    const text = bytes.toString("latin1");
    let seq = this.#progress.size;
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt16BE(at);
      if (length === 0) {
        const commit = decodeCommit(bytes, at);
        if (commit?.size !== seq) throw corrupt(seq, "a commit of another size");
        at += commit.length;
        continue;
      }
      const start = at + 2;
      const end = start + length;
      const quick = quickParseEntry(text, start, end, seq);
      let kind = quick === undefined ? undefined : this.#kinds.find(quick.kind);
      let id = quick?.id;
      let receivedAt = quick?.receivedAt;
      if (kind === undefined || id === undefined || receivedAt === undefined) {
        const entry = decodeEntry(bytes.subarray(start, end));
        if (entry.seq !== seq) throw corrupt(seq, "an entry with another number");
        kind = this.#kinds.add(entry, quick?.kind);
        id = entry.receipt.id;
        receivedAt = entry.received_at;
      }
      this.#spans.add(kind, seq, receivedAt, id, position + at, length);
      at = end;
      seq += 1;
    }
    const batch = this.#spans.take();
    this.#rows.add(batch);
    this.#blocks.add(batch.spans);
    return seq;
  }

  /** Finds a page of entries; with `size` only among the first `size` entries. */
  query(filter: EntryFilter, page: PageRequest | undefined, size?: number): FoundEntries {
    const { entries, cursor } = this.#ask(findPage(this.#tables, filter, page, size));
    const places = entries.map(({ position, length }) => ({ position, length }));
    return cursor === undefined ? { places } : { places, cursor };
  }

  /** Counts entries; with `size` only the first `size` entries. */
  count(request: CountRequest, size?: number): CountRow[] {
    return this.#ask(countEntries(this.#tables, request, size));
  }

  /** Answers from one state of the database: another process may write to it. */
  #ask<Value>(steps: Steps<Value>): Value {
    this.#database.exec("BEGIN");
    try {
      let step = steps.next();
      while (step.done !== true) {
        const { sql, parameters } = step.value;
        step = steps.next(this.#database.prepare(sql).all(...(parameters as (string | number)[])));
      }
      return step.value;
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  close(): void {
    this.#reader.close();
    this.#database.close();
  }
}

function readProgress(database: Database, start: IndexProgress): IndexProgress {
  const row = database.prepare("SELECT size, position FROM progress").get();
  if (row === undefined) return start;
  return { size: Number(row["size"]), position: Number(row["position"]) };
}

/** Offset after the last commit record of a run of records; 0 when there is none. */
function lastCommitEnd(bytes: Buffer): number {
  let end = 0;
  for (let at = 0; at + 2 <= bytes.length;) {
    const length = bytes.readUInt16BE(at);
    // The reader of a damaged record reports it.
    at += length === 0 ? (commitLength(bytes, at) ?? COMMIT_BYTES) : 2 + length;
    if (length === 0 && at <= bytes.length) end = at;
  }
  return end;
}

// A log that lost a relaxed tail may be shorter than its index, or have other bytes there.
function fits(
  reader: SegmentReader,
  progress: IndexProgress,
  log: IndexProgress,
  start: IndexProgress,
): boolean {
  if (progress.size > log.size || progress.position > log.position) return false;
  return isCommitEnd(reader, progress, start);
}

/** Whether a flush of the log ended at the position of an index. */
export function isCommitEnd(
  reader: SegmentReader,
  progress: IndexProgress,
  start: IndexProgress,
): boolean {
  if (progress.position <= start.position) {
    return progress.position === start.position && progress.size === start.size;
  }
  return COMMIT_LENGTHS.some((length) => {
    if (progress.position < length) return false;
    const commit = decodeCommit(reader.read(progress.position - length, length), 0);
    return commit?.length === length && commit.size === progress.size;
  });
}
