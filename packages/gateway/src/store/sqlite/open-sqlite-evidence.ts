import { CountersignError } from "@countersign/core";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openReadOnlyDatabase } from "@countersign/receipts/sqlite";
import "../../base/errors.js";
import type { EvidenceRow, EvidenceStore } from "../evidence-store.js";
import { openDatabaseThread } from "./database-thread.js";
import { evidenceRowOf, NEWEST_KEY, READ_EVIDENCE } from "./evidence-database.js";
import type { EvidenceDatabase } from "./evidence-database.js";

/** Options of {@link openSqliteEvidence}. */
export type SqliteEvidenceOptions = {
  readonly directory: string;
  /** The compiled worker. Without it, when run from source, the database shares this thread. */
  readonly workerFile?: URL;
};

/** Opens the evidence store in a folder, in a worker thread. */
export async function openSqliteEvidence(options: SqliteEvidenceOptions): Promise<EvidenceStore> {
  const { ask, close } = await openDatabaseThread<EvidenceDatabase>({
    kind: "evidence",
    directory: options.directory,
    workerFile: options.workerFile,
    failure: unavailable,
  });
  return {
    write: (rows) => ask("write", rows),
    read: (seqs) => ask("read", seqs),
    sweep: async (before, maxBytes) => {
      let all = 0;
      for (;;) {
        const count = await ask("sweep", before, maxBytes);
        all += count;
        if (count === 0) return all;
      }
    },
    usage: () => ask("usage"),
    newestKey: () => ask("newestKey"),
    close,
  };
}

/** True when the folder has an evidence store; creates nothing. */
export function hasSqliteEvidence(directory: string): boolean {
  return existsSync(join(directory, "evidence.sqlite"));
}

/** The name of the key of the newest copy, if there is one; creates nothing. */
export async function newestSqliteKey(directory: string): Promise<string | undefined> {
  if (!hasSqliteEvidence(directory)) return undefined;
  const database = await openReadOnlyDatabase(join(directory, "evidence.sqlite"));
  try {
    const key = database.prepare(NEWEST_KEY).get()?.["key_id"];
    return key === undefined ? undefined : String(key);
  } finally {
    database.close();
  }
}

/** Reads copies while a gateway may be writing; `undefined` without a store. */
export async function readSqliteEvidence(
  directory: string,
  seqs: readonly number[],
): Promise<EvidenceRow[] | undefined> {
  if (!hasSqliteEvidence(directory)) return undefined;
  const database = await openReadOnlyDatabase(join(directory, "evidence.sqlite"));
  try {
    return database.prepare(READ_EVIDENCE).all(JSON.stringify(seqs)).map(evidenceRowOf);
  } finally {
    database.close();
  }
}

function unavailable(why: string): CountersignError<"ERR_EVIDENCE_UNAVAILABLE"> {
  return new CountersignError(
    "ERR_EVIDENCE_UNAVAILABLE",
    `the evidence store failed: ${why}. Fix: check its disk and permissions`,
    {},
  );
}
