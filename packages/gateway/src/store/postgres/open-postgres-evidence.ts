import { CountersignError } from "@countersign/core";
import "../../base/errors.js";
import { oldestToRemove, ROW_BYTES, SWEEP_AT_ONCE } from "../evidence-store.js";
import type { EvidenceRow, EvidenceStore } from "../evidence-store.js";
import { connect, openTables } from "./connect.js";
import type { Connections } from "./connect.js";
import { EVIDENCE_MIGRATIONS } from "./migrations.js";

/** Options of {@link openPostgresEvidence}. */
export type PostgresEvidenceOptions = {
  readonly url: string;
  /** The origin of the log; gateways of one log share their evidence. */
  readonly name: string;
  /** Query timeout in milliseconds; 10,000 by default. */
  readonly answerMs?: number;
};

const ANSWER_MS = 10_000;

const PUT = `INSERT INTO countersign_evidence
  SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::integer[], $6::bytea[])
  ON CONFLICT (log, seq) DO UPDATE SET kept_at = excluded.kept_at, key_id = excluded.key_id,
    size = excluded.size, bytes = excluded.bytes`;
const READ = `SELECT seq, kept_at, key_id, bytes FROM countersign_evidence
  WHERE log = $1 AND seq = ANY($2::bigint[]) ORDER BY seq`;
const REMOVE = "DELETE FROM countersign_evidence WHERE log = $1 AND seq = ANY($2::bigint[])";
const OLDEST = `SELECT seq, size FROM countersign_evidence WHERE log = $1
  ORDER BY kept_at, seq LIMIT ${SWEEP_AT_ONCE}`;
const EXPIRED = `SELECT seq FROM countersign_evidence WHERE log = $1 AND kept_at < $2
  ORDER BY kept_at, seq LIMIT ${SWEEP_AT_ONCE}`;
const USAGE = `SELECT count(*) AS records, coalesce(sum(size), 0) AS bytes, min(kept_at) AS oldest
  FROM countersign_evidence WHERE log = $1`;
const NEWEST = `SELECT key_id FROM countersign_evidence WHERE log = $1
  ORDER BY kept_at DESC, seq DESC LIMIT 1`;
// Two gateways that sweep at once would both remove for the same bytes.
const ALONE =
  "SELECT pg_try_advisory_xact_lock(hashtextextended('countersign.evidence ' || $1, 0)) AS alone";

type Row = { seq: string; kept_at: string; key_id: string; bytes: Buffer };

/** Opens the evidence store of a log in PostgreSQL; creates its table. */
export async function openPostgresEvidence({
  url,
  name,
  answerMs = ANSWER_MS,
}: PostgresEvidenceOptions): Promise<EvidenceStore> {
  const database = await openTables({
    url,
    connections: 2,
    answerMs,
    failure: unavailable,
    tables: { area: "evidence", migrations: EVIDENCE_MIGRATIONS },
  });
  const usage: EvidenceStore["usage"] = async () => {
    type Usage = { records: string; bytes: string; oldest: string | null };
    const [row] = await database.query<Usage>(USAGE, [name]);
    const oldest = row?.oldest ?? undefined;
    return {
      records: Number(row?.records ?? 0),
      bytes: Number(row?.bytes ?? 0),
      ...(oldest === undefined ? {} : { oldest: Number(oldest) }),
    };
  };
  /** Removes the next rows; resolves with their number. */
  const sweepOnce = (before: number, maxBytes: number): Promise<number> =>
    database.inTransaction(async (client) => {
      const [lock] = (await client.query<{ alone: boolean }>(ALONE, [name])).rows;
      if (lock?.alone !== true) return 0;
      const expired = (await client.query<{ seq: string }>(EXPIRED, [name, before])).rows;
      let seqs = expired.map(({ seq }) => Number(seq));
      if (seqs.length === 0) {
        const bytes = Number((await client.query<{ bytes: string }>(USAGE, [name])).rows[0]?.bytes);
        if (bytes <= maxBytes) return 0;
        const { rows } = await client.query<{ seq: string; size: number }>(OLDEST, [name]);
        const oldest = rows.map(({ seq, size }) => ({ seq: Number(seq), size }));
        seqs = oldestToRemove(oldest, bytes, maxBytes);
      }
      await client.query(REMOVE, [name, seqs]);
      return seqs.length;
    });
  return {
    write: async (rows) => {
      // One statement must not contain an entry twice.
      const last = [...new Map(rows.map((row) => [row.seq, row])).values()];
      await database.query(PUT, [
        name,
        last.map(({ seq }) => seq),
        last.map(({ keptAt }) => keptAt),
        last.map(({ keyId }) => keyId),
        last.map(({ bytes }) => bytes.length + ROW_BYTES),
        last.map(({ bytes }) => Buffer.from(bytes)),
      ]);
    },
    read: async (seqs) => (await database.query<Row>(READ, [name, seqs])).map(rowOf),
    sweep: async (before, maxBytes) => {
      let all = 0;
      for (;;) {
        const count = await sweepOnce(before, maxBytes);
        all += count;
        if (count === 0) return all;
      }
    },
    usage,
    newestKey: async () => (await database.query<{ key_id: string }>(NEWEST, [name]))[0]?.key_id,
    close: () => database.close(),
  };
}

/** Reads copies without creating a table; `undefined` without one. */
export async function readPostgresEvidence(
  { url, name, answerMs = ANSWER_MS }: PostgresEvidenceOptions,
  seqs: readonly number[],
): Promise<EvidenceRow[] | undefined> {
  const database = connect({ url, connections: 1, answerMs, failure: unavailable });
  try {
    if (!(await hasTable(database))) return undefined;
    return (await database.query<Row>(READ, [name, seqs])).map(rowOf);
  } finally {
    await database.close();
  }
}

/** Whether the database has the table of evidence; creates nothing. */
export async function hasPostgresEvidence(url: string): Promise<boolean> {
  const database = connect({ url, connections: 1, answerMs: ANSWER_MS, failure: unavailable });
  try {
    return await hasTable(database);
  } finally {
    await database.close();
  }
}

/** The name of the key of the newest copy, if there is one; creates nothing. */
export async function newestPostgresKey({
  url,
  name,
}: PostgresEvidenceOptions): Promise<string | undefined> {
  const database = connect({ url, connections: 1, answerMs: ANSWER_MS, failure: unavailable });
  try {
    if (!(await hasTable(database))) return undefined;
    return (await database.query<{ key_id: string }>(NEWEST, [name]))[0]?.key_id;
  } finally {
    await database.close();
  }
}

async function hasTable(database: Connections): Promise<boolean> {
  const [table] = await database.query<{ found: string | null }>(
    "SELECT to_regclass('countersign_evidence')::text AS found",
    [],
  );
  return table !== undefined && table.found !== null;
}

function rowOf(row: Row): EvidenceRow {
  return {
    seq: Number(row.seq),
    keptAt: Number(row.kept_at),
    keyId: row.key_id,
    bytes: new Uint8Array(row.bytes),
  };
}

function unavailable(): CountersignError<"ERR_EVIDENCE_UNAVAILABLE"> {
  const message =
    "the database of the evidence store did not respond. Fix: check the database; the log is not affected";
  return new CountersignError("ERR_EVIDENCE_UNAVAILABLE", message, {});
}
