import { EvidenceDatabase } from "./evidence-database.js";
import { StoreDatabase } from "./store-database.js";

const DATABASES = { ledger: StoreDatabase, evidence: EvidenceDatabase } as const;

/** The name of an embedded database, and of its file. */
export type DatabaseKind = keyof typeof DATABASES;

/** Opens a database in this thread, and returns a function that calls its methods. */
export async function openEmbeddedDatabase({
  kind,
  file,
}: {
  readonly kind: DatabaseKind;
  readonly file: string;
}): Promise<(method: string, parameters: readonly unknown[]) => unknown> {
  const database = await DATABASES[kind].open(file);
  return (method, parameters) => {
    const run = database[method as keyof typeof database] as (...values: unknown[]) => unknown;
    return run.apply(database, [...parameters]);
  };
}
