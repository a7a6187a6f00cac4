import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { closedStore } from "../store/failure.js";
import { openDatabase } from "../store/sqlite-engine.js";
import type { Database } from "../store/sqlite-engine.js";
import { ForeignDatabase } from "./foreign-database.js";
import type { IndexClient } from "./index-client.js";
import { IndexDatabase, isCommitEnd, startOfLog } from "./index-database.js";
import type { IndexProgress } from "./index-database.js";
import { SCHEMA, SCHEMA_VERSION } from "./schema.js";
import { SegmentReader } from "./segment-reader.js";

const POLL_MS = 50;
// An index that made no progress for this long (a writer advances it twice a second) has no writer,
// or an overloaded one.
const STALLED_MS = 1_250;
const PATIENCE_MS = 10_000;

/** The writer's own index, read-only; undefined when none can be read. */
async function openShared(
  directory: string,
  reader: SegmentReader,
): Promise<{ index: IndexDatabase; database: Database } | undefined> {
  const path = join(directory, "index.sqlite");
  if (!existsSync(path)) return undefined;
  let database: Database | undefined;
  try {
    database = await openDatabase(path, { readOnly: true });
    database.exec("PRAGMA busy_timeout = 2000");
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version === SCHEMA_VERSION) {
      return { index: IndexDatabase.over(database, reader, startOfLog(directory)), database };
    }
  } catch {
    // Damaged, or in a read-only directory: the segments hold the same data.
  }
  database?.close();
  return undefined;
}

/** A private index of this process, starting with a copy of `from`; its file is unlinked. */
async function openPrivate(
  reader: SegmentReader,
  from: Database | undefined,
  start: IndexProgress,
): Promise<IndexDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-index-"));
  try {
    const path = join(folder, "index.sqlite");
    from?.prepare("VACUUM INTO ?").run(path);
    const database = await openDatabase(path);
    database.exec(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768",
    );
    database.exec(SCHEMA);
    return IndexDatabase.over(database, reader, start);
  } finally {
    try {
      // Unlinked while open: nothing is left however this process ends.
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // If the platform cannot unlink open files, the system's temporary file cleanup removes it.
    }
  }
}

/**
 * Answers queries beside a writing process. It uses the writer's index, waits while that catches
 * up, and otherwise copies it and completes the copy from the segments, chunk by chunk.
 */
export function openReadOnlyIndex(directory: string): IndexClient {
  const reader = new SegmentReader(join(directory, "segments"));
  let shared: Awaited<ReturnType<typeof openShared>>;
  let own: IndexDatabase | undefined;

  const sharedCovers = async (log: IndexProgress): Promise<boolean> => {
    const end = Date.now() + PATIENCE_MS;
    let moved = Date.now();
    let last = -1;
    for (;;) {
      shared ??= await openShared(directory, reader);
      if (shared === undefined) return false;
      const progress = shared.index.readProgress();
      if (!isCommitEnd(reader, progress, startOfLog(directory))) return false;
      if (progress.position >= log.position) return true;
      const now = Date.now();
      if (progress.position > last) moved = now;
      last = progress.position;
      if (now - moved > STALLED_MS || now > end) return false;
      await wait(POLL_MS);
    }
  };
  const covering = async (log: IndexProgress): Promise<IndexDatabase> => {
    if (own === undefined && (await sharedCovers(log)) && shared !== undefined) return shared.index;
    const start = startOfLog(directory);
    const fits = shared !== undefined && isCommitEnd(reader, shared.index.readProgress(), start);
    own ??= await openPrivate(reader, fits ? shared?.database : undefined, start);
    while (own.follow(log)) await wait(0);
    return own;
  };

  return {
    follow: () => undefined,
    progress: async () => (own ?? shared?.index)?.progress ?? { size: 0, position: 0 },
    query: async (filter, page, log) => (await covering(log)).query(filter, page, log.size),
    count: async (request, log) => (await covering(log)).count(request, log.size),
    remove: async () => {
      throw closedStore();
    },
    importForeign: async () => {
      throw closedStore();
    },
    async queryForeign(filter) {
      const foreign = await ForeignDatabase.openReadOnly(directory);
      try {
        return foreign?.query(filter) ?? [];
      } finally {
        foreign?.close();
      }
    },
    async close() {
      shared?.index.close();
      own?.close();
      reader.close();
      shared = undefined;
      own = undefined;
    },
  };
}
