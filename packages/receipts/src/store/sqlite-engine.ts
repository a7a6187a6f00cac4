import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The part of `node:sqlite` that is used here. */
export type Database = {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
};

/** A prepared statement. */
export type Statement = {
  run(...parameters: (string | number | null)[]): { changes: number | bigint };
  get(...parameters: (string | number | null)[]): Record<string, unknown> | undefined;
  all(...parameters: (string | number | null)[]): Record<string, unknown>[];
};

/** How a database is opened. */
export type DatabaseOptions = { readonly readOnly?: boolean };

type Engine = { DatabaseSync: new (path: string, options?: DatabaseOptions) => Database };

/**
 * Opens a database. The package on every Node, although newer ones have `node:sqlite` with the same interface: that one warns of
 * itself on Node 22, and is another version of SQLite on each.
 */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<Database> {
  const found = statSync(path, { throwIfNoEntry: false });
  // SQLite would wait for somebody at the other end of a pipe.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) {
    throw Object.assign(new Error("not a file"), { code: "EFTYPE" });
  }
  const { DatabaseSync } = (await import("@photostructure/sqlite")) as unknown as Engine;
  return new DatabaseSync(path, options);
}

/**
 * Opens a database that is there to read it, and makes no file beside it. SQLite makes two beside every database that it opens
 * with a write-ahead log; it makes none where nobody writes, which is so while there is no log.
 */
export async function openUnwritten(path: string): Promise<Database> {
  if (existsSync(`${path}-wal`)) return openDatabase(path, { readOnly: true });
  const { DatabaseSync } = (await import("@photostructure/sqlite")) as unknown as Engine;
  return new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
}
