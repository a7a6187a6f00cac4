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
  const { DatabaseSync } = await loadEngine();
  return new DatabaseSync(path);
}

async function loadEngine(): Promise<Engine> {
  // A name in a variable: Node 20 has no node:sqlite, and the compiler must not look for it.
  const builtIn = "node:sqlite";
  try {
    return (await import(builtIn)) as Engine;
  } catch {
    return (await import("@photostructure/sqlite")) as unknown as Engine;
  }
}
