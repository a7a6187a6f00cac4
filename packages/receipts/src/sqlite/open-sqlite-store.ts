import { openBundles } from "../bundles/open-bundles.js";
import type { BundleOptions } from "../bundles/open-bundles.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { closedStore } from "../store/failure.js";
import type { ReceiptStore } from "../store/store.js";
import { startIndex } from "./index-client.js";
import type { IndexClient } from "./index-client.js";
import type { IndexProgress } from "./index-database.js";
import { openReadOnlyIndex } from "./read-only-index.js";

/** Options of {@link openSqliteStore}. */
export type SqliteStoreOptions = BundleOptions & {
  /** The URL of the index worker's JavaScript; for tests. */
  readonly workerFile?: URL;
};

/** The embedded store, and the progress of its index. */
export type SqliteStore = ReceiptStore & {
  /**
   * Entries in the index; it may lag behind the log, and queries wait for the entries they must
   * see.
   */
  indexed(): Promise<number>;
};

/**
 * Milliseconds after an append before the index is notified. Queries notify it too, and waking its
 * thread for each flush cost more than the flush. A transaction writes each page once, however many
 * entries changed it: half a second collects enough entries per transaction.
 */
const FOLLOW_MS = 500;

/**
 * The embedded store: append-only files hold the log, and SQLite indexes them asynchronously.
 * Deleting `index.sqlite` loses nothing; it is rebuilt from the files.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const files = await openBundles(options);
  let log: IndexProgress = files.progress();
  const readOnly = options.readOnly === true;
  let index: IndexClient | undefined;
  try {
    index = readOnly
      ? openReadOnlyIndex(options.directory)
      : await startIndex(options.directory, () => log, options.workerFile);
  } catch (error) {
    await files.close();
    throw error;
  }
  const openIndex = (): IndexClient => {
    if (index === undefined) throw closedStore();
    return index;
  };
  // A reader queries the state that the writing process has sealed by now.
  const currentProgress = async (): Promise<IndexProgress> => {
    if (readOnly) {
      await files.head();
      log = files.progress();
    }
    return log;
  };
  let notifyTimer: NodeJS.Timeout | undefined;
  const notifyIndex = (): void => {
    notifyTimer ??= setTimeout(() => {
      notifyTimer = undefined;
      index?.follow(log);
    }, FOLLOW_MS).unref();
  };
  return {
    async append(build, durability) {
      await files.append(build, durability);
      log = files.progress();
      notifyIndex();
    },
    head: () => files.head(),
    readTile: (tile) => files.readTile(tile),
    readEntries: (start, end) => files.readEntries(start, end),
    ...(readOnly && {
      readTail: () => files.readTail(),
      readUncommitted: () => files.readUncommitted(),
    }),
    first: () => files.first(),
    planRemoval: (limit, rotate) => files.planRemoval(limit, rotate),
    async remove(first) {
      await files.beginRemoval(first);
      // Before the files: a query must not find an entry that cannot be read.
      await openIndex().remove(first, log);
      await files.finishRemoval();
    },
    readCheckpoint: () => files.readCheckpoint(),
    writeCheckpoint: (text, size) => files.writeCheckpoint(text, size),
    readAttestations: () => files.readAttestations(),
    updateAttestations: (change) => files.updateAttestations(change),
    // The lock of the directory admits one writer.
    leaseAttesting: async () => true,
    readKeyHistory: () => files.readKeyHistory(),
    writeKeyHistory: (text) => files.writeKeyHistory(text),
    async query(filter, page) {
      const found = await openIndex().query(filter, page, await currentProgress());
      const bytes = await files.readAt(found.places);
      const entries = bytes.map((one) => decodeEntry(one));
      return found.cursor === undefined ? { entries } : { entries, cursor: found.cursor };
    },
    count: async (request) => openIndex().count(request, await currentProgress()),
    importForeign: async (receipts) => openIndex().importForeign(receipts),
    queryForeign: async (filter) => openIndex().queryForeign(filter),
    indexed: async () => (await openIndex().progress()).size,
    async close() {
      clearTimeout(notifyTimer);
      index?.follow(log);
      await index?.close();
      index = undefined;
      await files.close();
    },
  };
}
