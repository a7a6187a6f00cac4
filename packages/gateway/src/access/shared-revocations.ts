import type { Revocation } from "@countersign/capability";
import { CountersignError } from "@countersign/core";
import { openTables } from "../store/postgres/connect.js";
import "../base/errors.js";
import { follow } from "../store/follow.js";
import type { Following, FollowListener } from "../store/follow.js";

/** A revocation with its serial number. */
export type NumberedRevocation = { readonly serial: number; readonly revocation: Revocation };

/** Revocations that several gateways share. */
export type SharedRevocations = {
  /** Resolves when they are durable, with the ids that were not revoked before. */
  revoke(revocations: readonly Revocation[]): Promise<string[]>;
  /** Revocations after this serial, oldest first, at most {@link PAGE}; 0 is before the first. */
  readAfter(serial: number): Promise<NumberedRevocation[]>;
  /** Stores the expiry of a revoked token (seconds), if known, so that its row can be removed later. */
  expire(id: string, expiresAt: number): Promise<void>;
  /** Removes rows of tokens that expired before this time (seconds): they are invalid, revoked or not. */
  forget(before: number): Promise<void>;
  close(): Promise<void>;
};

/** Options of {@link openSharedRevocations}. */
export type SharedRevocationsOptions = {
  readonly url: string;
  /** Gateways that share revocations use the same name: that of the log. */
  readonly name: string;
  /** Milliseconds after which the database counts as not responding; 5,000 when left out. */
  readonly answerMs?: number;
};

/** The signal that there are new revocations. */
export const REVOCATIONS_SIGNAL = "revocations";

/** Revocations per read. */
export const PAGE = 1000;

const ANSWER_MS = 5000;
// Serials are assigned before the commit: without this lock, a reader could see the later of two and never the earlier.
const ORDER_LOCK = 7_301_990_248;
const REVOKE = `INSERT INTO countersign_revocations (log, capability_id, revoked_at)
  SELECT $1, id, at FROM unnest($2::text[], $3::bigint[]) AS row(id, at)
  ON CONFLICT DO NOTHING RETURNING capability_id`;
const EXPIRE = `UPDATE countersign_revocations SET expires_at = $3
  WHERE log = $1 AND capability_id = $2 AND expires_at IS NULL`;
const FORGET = "DELETE FROM countersign_revocations WHERE log = $1 AND expires_at < $2";
const READ = `SELECT serial, capability_id, revoked_at FROM countersign_revocations
  WHERE log = $1 AND serial > $2 ORDER BY serial LIMIT ${PAGE}`;

type Row = {
  readonly serial: string;
  readonly capability_id: string;
  readonly revoked_at: string;
};

/** Opens the table of revocations next to the receipts, and creates it if missing. */
export async function openSharedRevocations({
  url,
  name,
  answerMs = ANSWER_MS,
}: SharedRevocationsOptions): Promise<SharedRevocations> {
  // One to poll, one to revoke at the same time.
  const access = { url, connections: 2, answerMs, failure: unavailable };
  const database = await openTables(access);
  return {
    revoke: (revocations) =>
      database.inTransaction(async (client) => {
        // Overrides the server's default: a confirmed revocation must survive a crash.
        await client.query("SET LOCAL synchronous_commit = on");
        await client.query(`SELECT pg_advisory_xact_lock(${ORDER_LOCK})`);
        const { rows } = await client.query(REVOKE, [
          name,
          revocations.map(({ capability_id: id }) => id),
          revocations.map(({ revoked_at: at }) => at),
        ]);
        return (rows as Pick<Row, "capability_id">[]).map(({ capability_id: id }) => id);
      }),
    readAfter: async (serial) => {
      const rows = await database.query<Row>(READ, [name, serial]);
      return rows.map((row) => ({
        serial: Number(row.serial),
        revocation: { capability_id: row.capability_id, revoked_at: Number(row.revoked_at) },
      }));
    },
    expire: async (id, expiresAt) => {
      await database.query(EXPIRE, [name, id, expiresAt]);
    },
    forget: async (before) => {
      await database.query(FORGET, [name, before]);
    },
    close: () => database.close(),
  };
}

function unavailable(): CountersignError<"ERR_REVOCATIONS_UNAVAILABLE"> {
  const message = "the database for revocations did not respond";
  return new CountersignError("ERR_REVOCATIONS_UNAVAILABLE", message, {});
}

/**
 * Reads all existing revocations, resolves, and then follows new ones.
 *
 * @throws CountersignError `ERR_REVOCATIONS_UNAVAILABLE` when the first read fails
 */
export function followRevocations(
  shared: Pick<SharedRevocations, "readAfter">,
  listener: Pick<FollowListener<never>, "onStale"> & { onRevoked(revocation: Revocation): void },
  options?: Parameters<typeof follow>[2],
): Promise<Following> {
  return follow(
    { readAfter: (serial) => shared.readAfter(serial), page: PAGE },
    { ...listener, onEntry: ({ revocation }) => listener.onRevoked(revocation) },
    options,
  );
}
