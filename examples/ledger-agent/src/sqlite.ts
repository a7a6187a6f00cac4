/** The part of `node:sqlite` that the ledger uses. */
export type Database = {
  exec(sql: string): void;
  prepare(sql: string): {
    run(...parameters: (string | number)[]): { lastInsertRowid: number | bigint };
    all(...parameters: (string | number)[]): Record<string, unknown>[];
  };
  close(): void;
};

type Engine = { DatabaseSync: new (path: string) => Database };

/** Opens a database; `node:sqlite` has the same interface, and is still called experimental by Node 22. */
export async function openDatabase(path: string): Promise<Database> {
  const { DatabaseSync } = (await import("@photostructure/sqlite")) as unknown as Engine;
  return new DatabaseSync(path);
}
