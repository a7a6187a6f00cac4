import { CountersignError } from "@countersign/core";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openReadOnlyDatabase } from "@countersign/receipts/sqlite";
import type { Clock } from "../../base/ports.js";
import "../../base/errors.js";
import { LOOKS } from "../forget-old.js";
import type { KeyedStore } from "../keyed-store.js";
import { parseStored, encodeText } from "../stored-text.js";
import { openDatabaseThread } from "./database-thread.js";
import type { StoreDatabase } from "./store-database.js";
import { decodeRows } from "./store-database.js";

/** Options of {@link openSqliteKeyedStore}. */
export type SqliteKeyedStoreOptions = {
  readonly directory: string;
  readonly clock: Clock;
  /** The compiled worker. Without it, when run from source, the database shares this thread. */
  readonly workerFile?: URL;
};

/** Opens the keyed store next to the receipts, in a worker thread: no commit ever delays a stream. */
export async function openSqliteKeyedStore(options: SqliteKeyedStoreOptions): Promise<KeyedStore> {
  const { clock } = options;
  // The store contains requests and approvals.
  const { ask: request, close } = await openDatabaseThread<StoreDatabase>({
    kind: "ledger",
    directory: options.directory,
    workerFile: options.workerFile,
    failure: unavailable,
  });
  return {
    write: (partition, rows, removed = []) =>
      request("write", partition, rows, removed, clock.now()),
    claim: async (claims, reading, then) => {
      const claimed = await request("claim", claims, reading, then, clock.now());
      return { known: claimed.known, rows: decodeRows(claimed.rows) };
    },
    forget: async (before) => {
      let all = 0;
      for (;;) {
        const count = await request("forget", before);
        all += count;
        if (count === 0) return all;
      }
    },
    close,
  };
}

/** True when a gateway has completed its start on the store of this folder before; creates nothing. */
export async function wasSqliteStoreUsed(directory: string): Promise<boolean> {
  const file = join(directory, "ledger.sqlite");
  if (!existsSync(file)) return false;
  const database = await openReadOnlyDatabase(file);
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'facts'");
    if (tables.get() === undefined) return false;
    const rows = database.prepare("SELECT kind, value FROM facts WHERE thread = ?");
    const looks = rows.all(encodeText(LOOKS));
    for (const { value } of looks) parseStored(String(value));
    return looks.some(({ kind }) => kind === "look");
  } finally {
    database.close();
  }
}

function unavailable(why: string): CountersignError<"ERR_LEDGER_UNAVAILABLE"> {
  return new CountersignError("ERR_LEDGER_UNAVAILABLE", `the ledger failed: ${why}`, {});
}
