import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { PoolClient } from "pg";
import type { Clock } from "../../base/ports.js";
import "../../base/errors.js";
import { areAllNew } from "../keyed-store.js";
import type { RowClaim, RowKind, RowName, StoredRow, KeyedStore } from "../keyed-store.js";
import { parseStored, decodeText, encodeText } from "../stored-text.js";
import { LOOKS } from "../forget-old.js";
import { connect, openTables } from "./connect.js";
import type { Connections } from "./connect.js";

/** Options of {@link openPostgresKeyedStore}. */
export type PostgresKeyedStoreOptions = {
  readonly url: string;
  /** Gateways with the same name share their rows. */
  readonly name: string;
  readonly clock: Clock;
  /** Maximum connections; 4 by default. */
  readonly connections?: number;
  /** Query timeout in milliseconds; 10,000 by default. */
  readonly answerMs?: number;
};

const ANSWER_MS = 10_000;

const TOUCH = `INSERT INTO countersign_threads VALUES ($1, $2, $3)
  ON CONFLICT (ledger, thread) DO UPDATE
  SET written_at = greatest(countersign_threads.written_at, excluded.written_at)`;
const TOUCH_ALL = `INSERT INTO countersign_threads
  SELECT $1, thread, $3 FROM unnest($2::text[]) AS row(thread) ORDER BY thread
  ON CONFLICT (ledger, thread) DO UPDATE
  SET written_at = greatest(countersign_threads.written_at, excluded.written_at)`;
const PUT = `INSERT INTO countersign_facts
  SELECT $1, $2, kind, id, value FROM unnest($3::text[], $4::text[], $5::text[]) AS row(kind, id, value)
  ON CONFLICT (ledger, thread, kind, id) DO UPDATE SET value = excluded.value`;
const REMOVE = `DELETE FROM countersign_facts USING unnest($3::text[], $4::text[]) AS gone(kind, id)
  WHERE ledger = $1 AND thread = $2
  AND countersign_facts.kind = gone.kind AND countersign_facts.id = gone.id`;
// Always in the same order: two transactions that claim the same rows in different orders would deadlock.
const CLAIM = `INSERT INTO countersign_facts
  SELECT $1, thread, kind, id, value FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
  AS row(thread, kind, id, value) ORDER BY thread, kind, id
  ON CONFLICT DO NOTHING RETURNING thread, kind, id`;
const FIND = `SELECT thread, kind, id, value FROM countersign_facts
  JOIN unnest($2::text[], $3::text[], $4::text[]) AS asked(thread, kind, id) USING (thread, kind, id)
  WHERE ledger = $1`;
const READ =
  "SELECT kind, id, value FROM countersign_facts WHERE ledger = $1 AND thread = $2 AND kind <> 'run'";

/** True when a gateway has completed its start on the store of this name before; creates nothing. */
export async function wasPostgresStoreUsed(url: string, name: string): Promise<boolean> {
  const database = connect({ url, connections: 1, answerMs: ANSWER_MS, failure: unavailable });
  try {
    const [table] = await database.query<{ found: string | null }>(
      "SELECT to_regclass('countersign_facts')::text AS found",
      [],
    );
    if (table?.found === null || table === undefined) return false;
    const looks = await database.query(
      "SELECT 1 FROM countersign_facts WHERE ledger = $1 AND thread = $2 AND kind = 'look'",
      [name, encodeText(LOOKS)],
    );
    return looks.length > 0;
  } finally {
    await database.close();
  }
}

/** Opens a keyed store that many gateways share. */
export async function openPostgresKeyedStore(
  options: PostgresKeyedStoreOptions,
): Promise<KeyedStore> {
  const { name, clock } = options;
  const { inTransaction, close } = await openTables({
    url: options.url,
    connections: options.connections ?? 4,
    answerMs: options.answerMs ?? ANSWER_MS,
    failure: unavailable,
  });

  /** Queries this store, unless there is nothing to ask. */
  const ask = async <Row>(
    client: PoolClient,
    isNeeded: boolean,
    sql: string,
    values: readonly unknown[],
  ): Promise<Row[]> =>
    isNeeded ? ((await client.query(sql, [name, ...values])).rows as Row[]) : [];
  type Fact = { readonly kind: RowKind; readonly id: string; readonly value: string };
  const readRows = async (
    client: PoolClient,
    partition: string | undefined,
  ): Promise<StoredRow[]> => {
    const isNeeded = partition !== undefined;
    const rows = await ask<Fact>(client, isNeeded, READ, [encodeText(partition ?? "")]);
    return rows.map((row) => ({
      kind: row.kind,
      id: decodeText(row.id),
      value: decodeValue(row.value),
    }));
  };

  const writeRows = async (
    client: PoolClient,
    partition: string,
    rows: readonly StoredRow[],
    removed: readonly RowName[] = [],
  ): Promise<void> => {
    const key = [name, encodeText(partition)];
    await client.query(TOUCH, [...key, clock.now()]);
    if (removed.length > 0) {
      const kinds = removed.map(({ kind }) => kind);
      await client.query(REMOVE, [...key, kinds, removed.map(({ id }) => encodeText(id))]);
    }
    if (rows.length === 0) return;
    // One statement must not contain a row twice; the last one wins.
    const last = [...new Map(rows.map((row) => [`${row.kind}\n${row.id}`, row])).values()];
    await client.query(PUT, [
      ...key,
      last.map(({ kind }) => kind),
      last.map(({ id }) => encodeText(id)),
      last.map(({ value }) => encodeText(JSON.stringify(value))),
    ]);
  };

  return {
    write: async (partition, rows, removed) =>
      inTransaction((client) => writeRows(client, partition, rows, removed)),
    claim: async (claims, reading, then) =>
      inTransaction(async (client) => {
        const keys = claims.map(keyOf);
        const wanted = claims.filter(({ isLookup }) => isLookup !== true);
        const inserted = await ask<Key>(client, wanted.length > 0, CLAIM, [
          ...columnsOf(wanted.map(keyOf)),
          wanted.map(({ row }) => encodeText(JSON.stringify(row.value))),
        ]);
        const free = new Set(inserted.map(nameOf));
        // After the claim: another gateway may have written the partition until it removed the claimed row.
        const isInserted = new Set(free);
        const rows = (await readRows(client, reading)).filter(
          ({ kind, id }) =>
            !isInserted.has(
              nameOf({ thread: encodeText(reading ?? ""), kind, id: encodeText(id) }),
            ),
        );
        const touched = [...new Set(inserted.map(({ thread }) => thread))];
        await ask(client, touched.length > 0, TOUCH_ALL, [touched, clock.now()]);
        // One query for all rows: each is a round trip, while others wait for this transaction's rows.
        const isNew = free.size === claims.length;
        const found = await ask<Key & { value: string }>(client, !isNew, FIND, columnsOf(keys));
        const there = new Map(found.map((row) => [nameOf(row), row.value]));
        const known = claims.map((claim, index): JsonObject | undefined => {
          const key = nameOf(keys[index] as Key);
          // Of two claims of one key in one call, the first one gets it.
          if (claim.isLookup !== true && free.delete(key)) return undefined;
          const value = there.get(key);
          if (value !== undefined) return decodeValue(value);
          return claim.isLookup === true ? undefined : {};
        });
        if (then !== undefined && areAllNew(known)) {
          await writeRows(client, then.partition, then.rows);
        }
        return { known, rows };
      }),
    forget: (before) => forgetPartitions({ inTransaction }, name, before),
    close,
  };
}

function unavailable(): CountersignError<"ERR_LEDGER_UNAVAILABLE"> {
  const message = "the database of the ledger did not respond";
  return new CountersignError("ERR_LEDGER_UNAVAILABLE", message, {});
}

/** A row's key as the database has it. */
type Key = { readonly thread: string; readonly kind: string; readonly id: string };

function keyOf({ partition, row }: RowClaim): Key {
  return { thread: encodeText(partition), kind: row.kind, id: encodeText(row.id) };
}

function nameOf({ thread, kind, id }: Key): string {
  return JSON.stringify([thread, kind, id]);
}

function columnsOf(keys: readonly Key[]): [string[], string[], string[]] {
  return [keys.map(({ thread }) => thread), keys.map(({ kind }) => kind), keys.map(({ id }) => id)];
}

function decodeValue(text: string): JsonObject {
  return parseStored(decodeText(text)) as JsonObject;
}

/** Partitions removed in one transaction: it must end long before the query timeout. */
const FORGET_AT_ONCE = 200;

// SKIP LOCKED: a partition that is being written is not old, and another gateway may remove the others.
const FORGET_PARTITIONS = `WITH old AS MATERIALIZED (
    SELECT ledger, thread FROM countersign_threads WHERE ledger = $1 AND written_at < $2
    ORDER BY written_at LIMIT ${FORGET_AT_ONCE} FOR UPDATE SKIP LOCKED)
  DELETE FROM countersign_threads WHERE (ledger, thread) IN (SELECT ledger, thread FROM old)
  RETURNING thread`;
const FORGET_FACTS = "DELETE FROM countersign_facts WHERE ledger = $1 AND thread = ANY($2)";

/** Removes a store's partitions that were last written before this time; resolves with their number. */
export async function forgetPartitions(
  { inTransaction }: Pick<Connections, "inTransaction">,
  name: string,
  before: number,
): Promise<number> {
  let all = 0;
  for (;;) {
    const count = await inTransaction(async (client) => {
      const old = await client.query<{ thread: string }>(FORGET_PARTITIONS, [name, before]);
      const partitions = old.rows.map(({ thread }) => thread);
      if (partitions.length > 0) await client.query(FORGET_FACTS, [name, partitions]);
      return partitions.length;
    });
    all += count;
    if (count < FORGET_AT_ONCE) return all;
  }
}
