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

async function loadBuiltIn(): Promise<Engine | undefined> {
  // The name as a variable: Node 20 has no node:sqlite, and the compiler must not look for it.
  const name = "node:sqlite";
  try {
    return (await import(name)) as Engine;
  } catch {
    return undefined;
  }
}

/** Opens a database with the runtime's own SQLite, or with the package of the same interface. */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<Database> {
  const { DatabaseSync } =
    (await loadBuiltIn()) ?? ((await import("@photostructure/sqlite")) as unknown as Engine);
  return new DatabaseSync(path, options);
}
