import { parseJson } from "@countersign/core";
import type { LedgerEvent } from "@countersign/projection";
import type { LedgerPort } from "@countersign/projection/stream";
import { openDatabase } from "./sqlite.js";
import type { Database } from "./sqlite.js";

/** A fact to record; the ledger adds id, time and authority. */
export type Fact = Pick<LedgerEvent, "kind" | "factOwnerRef" | "payload">;

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ts REAL NOT NULL,
    thread TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    payload TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_by_thread ON events (thread, id);
  CREATE TRIGGER IF NOT EXISTS events_stay BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TRIGGER IF NOT EXISTS events_remain BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
`;

/** An append-only ledger in one SQLite file: the only state of the agent. */
export class Ledger {
  readonly #database: Database;
  readonly #listeners = new Map<string, Set<() => void>>();

  private constructor(database: Database) {
    this.#database = database;
    database.exec(SCHEMA);
  }

  static async open(path: string): Promise<Ledger> {
    return new Ledger(await openDatabase(path));
  }

  /** Records a fact and returns its id. */
  append(thread: string, { kind, factOwnerRef, payload }: Fact): number {
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO events (ts, thread, kind, owner, payload) VALUES (?, ?, ?, ?, ?)")
      .run(Date.now(), thread, kind, factOwnerRef, JSON.stringify(payload));
    for (const listener of this.#listeners.get(thread) ?? []) listener();
    return Number(lastInsertRowid);
  }

  /** The events of one thread, in order. */
  read(thread: string, afterId = 0, limit = 100_000): LedgerEvent[] {
    return this.#database
      .prepare("SELECT * FROM events WHERE thread = ? AND id > ? ORDER BY id LIMIT ?")
      .all(thread, afterId, limit)
      .map((row) => ({
        id: Number(row["id"]),
        ts: Number(row["ts"]),
        kind: String(row["kind"]),
        scopeRef: { kind: "conversation", scopeId: thread },
        factOwnerRef: String(row["owner"]),
        effectAuthorityRef: { authorityId: "ledger-agent", authorityClass: "runtime" },
        payload: parseJson(String(row["payload"])),
      }));
  }

  threads(): string[] {
    const rows = this.#database.prepare("SELECT DISTINCT thread FROM events").all();
    return rows.map((row) => String(row["thread"]));
  }

  /** One thread, to be read and watched. */
  port(thread: string): LedgerPort {
    return {
      read: (afterId, limit) => this.read(thread, afterId, limit),
      subscribe: (listener) => {
        const listeners = this.#listeners.get(thread) ?? new Set();
        this.#listeners.set(thread, listeners.add(listener));
        return () => {
          listeners.delete(listener);
          if (listeners.size === 0) this.#listeners.delete(thread);
        };
      },
    };
  }

  close(): void {
    this.#database.close();
  }
}
