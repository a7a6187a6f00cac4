import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The part of `node:sqlite` that is used here. */
export type Database = {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
};

type Parameter = string | number | Uint8Array | null;

/** A prepared statement. */
export type Statement = {
  run(...parameters: Parameter[]): { changes: number | bigint };
  get(...parameters: Parameter[]): Record<string, unknown> | undefined;
  all(...parameters: Parameter[]): Record<string, unknown>[];
};

/** Options of {@link openDatabase}. */
export type DatabaseOptions = { readonly readOnly?: boolean };

type Engine = { DatabaseSync: new (path: string, options?: DatabaseOptions) => Database };

/**
 * Opens a database. It uses the npm package on every Node version, although newer ones have
 * `node:sqlite` with the same interface: that one prints a warning on Node 22 and has a different
 * SQLite version in each release.
 */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<Database> {
  const found = statSync(path, { throwIfNoEntry: false });
  // SQLite would wait for the other end of a pipe.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) {
    throw Object.assign(new Error("not a file"), { code: "EFTYPE" });
  }
  const { DatabaseSync } = (await import("@photostructure/sqlite")) as unknown as Engine;
  return new DatabaseSync(path, options);
}

/**
 * Opens an existing database for reading without creating files beside it. SQLite creates two files
 * beside every database with a write-ahead log. Without an existing log no process writes, and the
 * database can be opened as immutable.
 */
export async function openReadOnlyDatabase(path: string): Promise<Database> {
  if (existsSync(`${path}-wal`)) return openDatabase(path, { readOnly: true });
  const { DatabaseSync } = (await import("@photostructure/sqlite")) as unknown as Engine;
  return new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
}
