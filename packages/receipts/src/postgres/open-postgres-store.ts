import type { JsonObject } from "@countersign/core";
import { isCountersignError, parseJson } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import { foreignFromRow } from "../import/rows.js";
import { countEntries, findPage } from "../spans/find-entries.js";
import type { Steps } from "../spans/find-entries.js";
import type { SpanRow } from "../spans/spans.js";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { parseNote } from "../note/note.js";
import {
  closedStore,
  corrupt,
  outOfRange,
  readFailure,
  removedEntries,
  writeFailure,
} from "../store/failure.js";
import { MAX_READ_ENTRIES } from "../store/store.js";
import type { ReceiptStore } from "../store/store.js";
import { encodeBundle } from "../tiles/bundle.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { appendRows } from "./append-rows.js";
import type { AppendedTo } from "./append-rows.js";
import { leaseAttesting, readAttestations, updateAttestations } from "./attestation-rows.js";
import { openConnections } from "./connections.js";
import type { Connections } from "./connections.js";
import type { PoolClient } from "pg";
import { insertForeign, selectForeign } from "./foreign-rows.js";
import { headOfRow } from "./frontier.js";
import type { HeadRow } from "./frontier.js";
import { dropOldColumns, indexOlderRows } from "./index-rows.js";
import { Kinds } from "./kinds.js";
import { findLog, prepareLog } from "./log-row.js";
import { findMismatch } from "./mismatched-rows.js";
import { listPartitions, PARTITION_WIDTH, planPartition } from "./partitions.js";
import { planFirst, removeEntries } from "./remove-rows.js";
import { findSpans, SPANS, spanTables } from "./span-tables.js";

/** Options of {@link openPostgresStore}. */
export type PostgresStoreOptions = {
  readonly url: string;
  /** Name of the log inside the database; gateways that share a log use the same name. */
  readonly log: string;
  /** Maximum number of connections for queries; default 4. Appends use up to two more. */
  readonly connections?: number;
  /**
   * Milliseconds that the database may take to respond to an append; default 10,000. Then all
   * waiting calls fail. Queries have no limit.
   */
  readonly answerMs?: number;
  /** Reads only: creates no table and no log, and rejects a database without them. */
  readonly readOnly?: boolean;
};

/** The row of a log; columns that an older version did not create are missing. */
type LogRow = HeadRow & {
  readonly checkpoint: string | null;
  readonly key_history?: string | null;
  readonly first_entry?: string;
  readonly checkpoint_size: string;
  readonly indexed?: string;
};

/** A search for a text reads every entry of its time range, on one of few connections. */
const FIND_MS = 30_000;
const ANSWER_MS = 10_000;
/** Milliseconds between two attempts to make the partition of later entries. */
const PLAN_MS = 60_000;
/** One connection appends, the other stores checkpoints and probes the database. */
const APPENDING = 2;

/** The shared store: many gateways append to one log in one PostgreSQL database. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<ReceiptStore> {
  const readOnly = options.readOnly === true;
  const { url, connections = 4, answerMs = ANSWER_MS } = options;
  const asking = openConnections({ url, connections, readOnly });
  // Queries may take long, so only appends detect that the database stopped responding.
  const onUnresponsive = (): void => asking.destroyAll();
  const appending = openConnections({
    url,
    connections: APPENDING,
    answerMs,
    readOnly,
    onUnresponsive,
  });
  const closeAll = async (): Promise<void> => {
    await Promise.all([asking.close(), appending.close()]);
  };
  const failed = async (error: unknown): Promise<never> => {
    await closeAll();
    throw readFailure("open", error);
  };
  const { logId, isOlder } = await (
    readOnly ? findLog(asking, options.log) : prepareLog(asking, options.log)
  ).catch(failed);
  const spans = readOnly ? await findSpans(asking).catch(failed) : SPANS;
  const tables = spanTables(logId, spans);
  const kinds = new Kinds();
  let closed = false;
  let historyBytes: number | undefined;
  const knowHistory = (text: string): void => {
    historyBytes = Buffer.byteLength(text);
  };

  const read = async <Row>(
    operation: string,
    sql: string,
    values: unknown[],
    from: Connections = asking,
  ): Promise<Row[]> => {
    if (closed) throw closedStore();
    try {
      return (await from.withClient((client) => client.query(sql, values))).rows as Row[];
    } catch (error) {
      throw readFailure(operation, error);
    }
  };
  let indexing: Promise<void> | undefined;
  /** Indexes the entries that an older version stored; appends continue meanwhile. */
  const indexOlder = (): Promise<void> => {
    const run = async (): Promise<void> => {
      let isLeft = true;
      while (isLeft && !closed) {
        isLeft = await appending.withClient((client) => indexOlderRows(client, { logId, kinds }));
      }
      // Without the lock the columns stay until the next start.
      await appending.withClient(dropOldColumns).catch(() => undefined);
    };
    indexing ??= run().finally(() => {
      indexing = undefined;
    });
    return indexing;
  };
  /** Runs statements that see one state of the log, with all its entries in the index. */
  const ask = async <Value>(
    operation: string,
    limitMs: number,
    work: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> => {
    if (closed) throw closedStore();
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = ${limitMs}; SELECT * FROM countersign_logs WHERE log_id = ${logId}`;
    const attempt = (): Promise<{ value: Value } | undefined> =>
      asking.withClient(async (client) => {
        const begun = (await client.query(begin)) as unknown as { rows: LogRow[] }[];
        const row = begun.at(-1)?.rows[0];
        const isBehind = !readOnly && Number(row?.indexed) < Number(row?.size);
        const found = isBehind ? undefined : { value: await work(client) };
        await client.query("COMMIT");
        return found;
      });
    try {
      for (;;) {
        const found = await attempt();
        if (found !== undefined) return found.value;
        await indexOlder();
      }
    } catch (error) {
      throw readFailure(operation, error);
    }
  };
  const follow = async <Value>(client: PoolClient, steps: Steps<Value>): Promise<Value> => {
    let step = steps.next();
    while (step.done !== true) {
      const { rows } = await client.query(step.value.sql, step.value.parameters);
      step = steps.next(rows as SpanRow[]);
    }
    return step.value;
  };
  // All columns: a reader must not name a column that only a writer of this version adds.
  const readRow = async (operation: string, from: Connections): Promise<LogRow> => {
    const sql = "SELECT * FROM countersign_logs WHERE log_id = $1";
    const [row] = await read<LogRow>(operation, sql, [logId], from);
    if (row === undefined) throw readFailure(operation, new Error("the log's row is gone"));
    return row;
  };
  const update = async (operation: string, sql: string, values: unknown[]): Promise<number> => {
    if (closed || readOnly) throw closedStore();
    try {
      const done = await appending.withClient((client) => client.query(sql, values));
      return done.rowCount ?? 0;
    } catch (error) {
      throw writeFailure(operation, error);
    }
  };
  const head: ReceiptStore["head"] = async () =>
    headOfRow(await readRow("read the head", appending));
  const readEntries: ReceiptStore["readEntries"] = async (start, end) => {
    if (end - start > MAX_READ_ENTRIES) throw new TypeError("too many entries asked for at once");
    const sql = `SELECT body FROM countersign_entries WHERE log_id = $1 AND seq >= $2 AND seq < $3 ORDER BY seq`;
    const rows = await read<{ body: Buffer }>("read entries", sql, [logId, start, end]);
    if (start < 0 || rows.length !== end - start) {
      const row = await readRow("read entries", asking);
      const kept = firstOf(row);
      throw start >= 0 && start < kept ? removedEntries(kept) : outOfRange(Number(row.size));
    }
    return rows.map((row) => row.body);
  };

  /** The leaf hashes of 256 removed entries. */
  const readLeafTile = async (tile: number): Promise<Buffer | undefined> => {
    const table = "SELECT to_regclass('countersign_leaf_tiles') IS NOT NULL AS found";
    const [there] = await read<{ found: boolean }>("read a tile", table, []);
    if (there?.found !== true) return undefined;
    const sql = "SELECT hashes FROM countersign_leaf_tiles WHERE log_id = $1 AND tile = $2";
    const [row] = await read<{ hashes: Buffer }>("read a tile", sql, [logId, tile]);
    if (row === undefined) return undefined;
    if (row.hashes.length === TILE_WIDTH * HASH_BYTES) return row.hashes;
    throw corrupt(tile * TILE_WIDTH, "the hashes of a tile are not 256");
  };
  let planned = Number.NEGATIVE_INFINITY;
  /** Makes the next partition in the background once the current one is half full. */
  const planSoon = ({ size, part, next_part: next }: AppendedTo): void => {
    const current = Math.max(Number(part), Number(next));
    if (current >= 0 && Number(size) < current + PARTITION_WIDTH / 2) return;
    if (performance.now() < planned + PLAN_MS) return;
    planned = performance.now();
    // Without a partition the entries go to the parent table.
    asking.withClient((client) => planPartition(client, logId)).catch(() => undefined);
  };

  // The next query meets a failure again and reports it.
  if (isOlder) indexOlder().catch(() => undefined);
  return {
    readsDrafts: true,
    async append(build, durability) {
      if (closed || readOnly) throw closedStore();
      try {
        const row = await appending.withClient((client) =>
          appendRows(client, { logId, historyBytes, kinds }, build, durability),
        );
        planSoon(row);
      } catch (error) {
        throw writeFailure("append", error);
      }
    },
    head,
    readEntries,
    async readTile({ level, index, width }) {
      const first = index * TILE_WIDTH;
      if (level === "entries") return encodeBundle(await readEntries(first, first + width));
      // Older versions stored the leaf hashes of removed entries with those of the other levels.
      const sql =
        level === 0
          ? `SELECT hash FROM (SELECT seq AS position, leaf AS hash FROM countersign_entries WHERE log_id = $1 AND seq >= $2 AND seq < $3
              UNION ALL SELECT position, hash FROM countersign_hashes WHERE log_id = $1 AND level = 0 AND position >= $2 AND position < $3) AS leaves ORDER BY position`
          : `SELECT hash FROM countersign_hashes WHERE log_id = $1 AND position >= $2 AND position < $3 AND level = ${Number(level)} ORDER BY position`;
      const rows = await read<{ hash: Buffer }>("read a tile", sql, [logId, first, first + width]);
      if (rows.length !== width) {
        const kept = level === 0 ? await readLeafTile(index) : undefined;
        if (kept === undefined) throw outOfRange((await head()).size);
        return kept.subarray(0, width * HASH_BYTES);
      }
      // The column accepts any number of bytes, but readers of the tile assume 32 per hash.
      const wrong = rows.findIndex((row) => row.hash.length !== HASH_BYTES);
      if (wrong >= 0) {
        throw corrupt((first + wrong) * TILE_WIDTH ** Number(level), "a hash is not 32 bytes");
      }
      return Buffer.concat(rows.map((row) => row.hash));
    },
    findMismatchedRow: (start, end) =>
      ask("read rows", 0, (client) => findMismatch(client, { logId, spans }, start, end)),
    first: async () => firstOf(await readRow("read the first entry", asking)),
    async planRemoval(limit, rotate) {
      const row = await readRow("plan a removal", asking);
      const most = Math.min(limit, Number(row.checkpoint_size));
      const range = { from: firstOf(row), first: most };
      if (closed || readOnly) throw closedStore();
      try {
        return await appending.withClient(async (client) => {
          const partitions = await listPartitions(client, logId);
          await planPartition(client, logId, rotate);
          return planFirst(partitions, Number(row.size), range);
        });
      } catch (error) {
        throw writeFailure("plan a removal", error);
      }
    },
    async remove(first) {
      const from = firstOf(await readRow("remove entries", asking));
      if (closed || readOnly) throw closedStore();
      try {
        await removeEntries(appending, { logId, kinds }, { from, first });
      } catch (error) {
        throw writeFailure("remove entries", error);
      }
    },
    async readCheckpoint() {
      return (await readRow("read a checkpoint", asking)).checkpoint ?? undefined;
    },
    async writeCheckpoint(text, size) {
      const sql =
        "UPDATE countersign_logs SET checkpoint = $2, checkpoint_size = $3 WHERE log_id = $1 AND checkpoint_size <= $3";
      if ((await update("keep a checkpoint", sql, [logId, text, size])) > 0) return;
      const row = await readRow("keep a checkpoint", appending);
      // Either another gateway was faster, or the row was tampered with: with too large a
      // `checkpoint_size` no checkpoint would ever be stored again.
      const kept = sizeOf(row.checkpoint ?? "");
      if (kept < size) throw corrupt(size, "the checkpoint is older than its row says");
    },
    async readAttestations() {
      if (closed) throw closedStore();
      try {
        return await asking.withClient((client) => readAttestations(client, logId));
      } catch (error) {
        throw readFailure("read attestations", error);
      }
    },
    async updateAttestations(change) {
      if (closed || readOnly) throw closedStore();
      try {
        await asking.withClient((client) => updateAttestations(client, logId, change));
      } catch (error) {
        throw writeFailure("keep attestations", error);
      }
    },
    async leaseAttesting(holder, ms) {
      if (closed || readOnly) throw closedStore();
      try {
        return await asking.withClient((client) => leaseAttesting(client, logId, holder, ms));
      } catch (error) {
        throw writeFailure("lease the witnesses", error);
      }
    },
    async readKeyHistory() {
      const { key_history: text } = await readRow("read the key history", asking);
      if (typeof text === "string") knowHistory(text);
      return text ?? undefined;
    },
    async writeKeyHistory(text) {
      // One statement: between a read and a write another gateway's rotation could be lost.
      const sql =
        "UPDATE countersign_logs SET key_history = $2 WHERE log_id = $1 AND (key_history IS NULL OR starts_with($2, key_history))";
      if ((await update("keep the key history", sql, [logId, text])) > 0) {
        knowHistory(text);
        return true;
      }
      await readRow("keep the key history", appending);
      return false;
    },
    async query(filter, page) {
      // An invalid query fails before it takes a connection.
      findPage(tables, filter, page).next();
      return ask("query", filter.q === undefined ? 0 : FIND_MS, async (client) => {
        const { entries, cursor } = await follow(client, findPage(tables, filter, page));
        const seqs = entries.map(({ seq }) => seq);
        if (seqs.length === 0) return { entries: [] };
        // The bounds leave out the partitions of other numbers.
        const { rows } = await client.query<{ body: Buffer }>(
          "SELECT body FROM countersign_entries JOIN unnest($2::bigint[]) WITH ORDINALITY AS page (seq, at) USING (seq) WHERE log_id = $1 AND seq >= $3 AND seq <= $4 ORDER BY at",
          [logId, seqs, Math.min(...seqs), Math.max(...seqs)],
        );
        const shown = rows.map(({ body }) => decodeEntry(body));
        return cursor === undefined ? { entries: shown } : { entries: shown, cursor };
      });
    },
    async count(request) {
      countEntries(tables, request).next();
      return ask("count", request.filter?.q === undefined ? 0 : FIND_MS, (client) =>
        follow(client, countEntries(tables, request)),
      );
    },
    async importForeign(receipts) {
      if (closed || readOnly) throw closedStore();
      try {
        return await asking.withClient((client) => insertForeign(client, logId, receipts));
      } catch (error) {
        throw writeFailure("import", error);
      }
    },
    async queryForeign(filter) {
      const { sql, parameters } = selectForeign(logId, filter);
      const rows = await read<Record<string, unknown>>("query", sql, parameters);
      return rows.map((row) => foreignFromRow(row, parseJson(String(row["body"])) as JsonObject));
    },
    async close() {
      if (closed) return;
      closed = true;
      await closeAll();
    },
  };
}

/** The first entry of a log; tables of an older version do not have the column. */
function firstOf({ first_entry: first }: LogRow): number {
  return Number(first ?? 0);
}

/** The size in a checkpoint; -1 when there is none or it is unreadable. */
function sizeOf(checkpoint: string): number {
  try {
    return parseCheckpoint(parseNote(checkpoint).text).size;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return -1;
  }
}
