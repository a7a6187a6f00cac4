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

/** Opens a database with the runtime's own SQLite (Node 22.5 on), or with the package of the same face. */
export async function openDatabase(path: string): Promise<Database> {
  // Names as variables: Node 20 has no node:sqlite, and the compiler must not look for it.
  for (const name of ["node:sqlite", "@photostructure/sqlite"]) {
    try {
      const { DatabaseSync } = (await import(name)) as Engine;
      return new DatabaseSync(path);
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_UNKNOWN_BUILTIN_MODULE") throw error;
    }
  }
  throw new TypeError("this runtime has no SQLite");
}
