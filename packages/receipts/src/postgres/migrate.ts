import { CountersignError } from "@countersign/core";
import type { PoolClient } from "pg";
import "../store/errors.js";

/** One change of tables. */
export type Migration = {
  /** A column that exists once the change is made, as `table.column`. */
  readonly adds: string;
  readonly sql: string;
  /** Programs without this change must not use the tables any more. */
  readonly excludesOlder?: true;
};

/** Options of {@link migrate}. */
export type MigrateOptions = {
  /** Runs the work in one transaction. */
  inTransaction<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value>;
  /** Which tables: `log`, `gateway` or `evidence`. */
  readonly area: string;
  /** All changes, oldest first. */
  readonly migrations: readonly Migration[];
};

/** Programs that start together must not both change the tables. */
const LOCK = 7_301_990_245;
const CREATE = `CREATE TABLE IF NOT EXISTS countersign_schema (
  area text PRIMARY KEY, version integer NOT NULL, least integer NOT NULL, changed_at timestamptz NOT NULL)`;
const DONE = `SELECT adds FROM unnest($1::text[]) AS adds WHERE EXISTS (
  SELECT FROM pg_attribute WHERE attrelid = to_regclass(split_part(adds, '.', 1))
  AND attname = split_part(adds, '.', 2) AND NOT attisdropped)`;
const SAVE = `INSERT INTO countersign_schema VALUES ($1, $2, $3, now()) ON CONFLICT (area) DO UPDATE
  SET version = greatest(countersign_schema.version, excluded.version),
    least = greatest(countersign_schema.least, excluded.least), changed_at = excluded.changed_at`;

/** Attempts of one change to lock its table. */
const ATTEMPTS = 5;
const LOCK_NOT_AVAILABLE = "55P03";

/** The tables of an area: what they lack, and the version that is stored. */
type State = { readonly missing: readonly number[]; readonly version: number };

/**
 * Makes the missing changes, each in a transaction of its own: a start that is interrupted is
 * continued by the next.
 *
 * The columns tell which changes are missing, and the version number which programs may use the
 * tables. So a table that was lost is created again, and a start on complete tables locks none of
 * them: `CREATE INDEX IF NOT EXISTS` and `ALTER TABLE` would wait for the writes of other gateways.
 * @throws CountersignError `ERR_STORE_NEWER` when a newer program changed them incompatibly
 */
export async function migrate({ inTransaction, area, migrations }: MigrateOptions): Promise<void> {
  const length = migrations.length;
  const isComplete = ({ missing, version }: State): boolean =>
    missing.length === 0 && version >= length;
  let attempts = 0;
  for (;;) {
    if (isComplete(await inTransaction((client) => readState(client, area, migrations)))) return;
    const change = inTransaction(async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
      // A change that waits for the writes of others holds up all later ones: it gives up first.
      await client.query(`SET LOCAL lock_timeout = '2s'; ${CREATE}`);
      const { missing } = await readState(client, area, migrations);
      const next = missing[0];
      if (next !== undefined) {
        const { adds, sql } = migrations[next] as Migration;
        await client.query(sql);
        const after = await readState(client, area, migrations);
        if (after.missing.includes(next))
          throw new TypeError(`the change that adds ${adds} does not`);
      }
      // The last change is followed by the whole version; a repeated one keeps it.
      const version = missing.length > 1 ? (next ?? 0) + 1 : length;
      await client.query(SAVE, [area, version, leastOf(migrations, version)]);
    });
    await change.catch((error: unknown) => {
      attempts += 1;
      const isLocked = (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
      if (!isLocked || attempts === ATTEMPTS) throw error;
    });
  }
}

/** The changes that a program must know. */
function leastOf(migrations: readonly Migration[], version: number): number {
  return migrations.slice(0, version).findLastIndex((one) => one.excludesOlder === true) + 1;
}

/**
 * Reads the stored version of an area; 0 before the first one.
 * @throws CountersignError `ERR_STORE_NEWER` when this program must not use the tables
 */
export async function readVersion(
  client: PoolClient,
  area: string,
  migrations: readonly Migration[],
): Promise<number> {
  const table = await client.query("SELECT to_regclass('countersign_schema') AS found");
  if ((table.rows as { found: string | null }[])[0]?.found === null) return 0;
  const { rows } = await client.query<{ version: number; least: number }>(
    "SELECT version, least FROM countersign_schema WHERE area = $1",
    [area],
  );
  const { version = 0, least = 0 } = rows[0] ?? {};
  if (least <= migrations.length) return version;
  throw new CountersignError(
    "ERR_STORE_NEWER",
    `a newer version of this program changed the tables of the ${area} in the database: they have version ${version}, this program knows ${migrations.length}. Fix: update this gateway`,
    { area, version, known: migrations.length },
  );
}

async function readState(
  client: PoolClient,
  area: string,
  migrations: readonly Migration[],
): Promise<State> {
  const version = await readVersion(client, area, migrations);
  const { rows } = await client.query<{ adds: string }>(DONE, [migrations.map(({ adds }) => adds)]);
  const done = new Set(rows.map(({ adds }) => adds));
  return { missing: migrations.flatMap(({ adds }, at) => (done.has(adds) ? [] : [at])), version };
}
