import { sha256Hex } from "@countersign/core";
import type { HandedToken } from "../sessions/sessions.js";

/** A sealed token that was handed to a session, and its expiry in seconds. */
export type KeptToken = {
  readonly session: string;
  readonly handed: HandedToken;
  readonly sealed: string;
  readonly expiresAt: number;
};

/** Queries the database of the tables. */
type Query = <Row>(sql: string, values: readonly unknown[]) => Promise<Row[]>;

/** Tokens stored for gateways that start later, the newest ones; as many as a gateway keeps sessions. */
const MAX_KEPT = 10_000;
/** Characters of tokens that a gateway loads at start. A token has a few hundred, and 87,000 at most. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const PAGE = 200;
/** How long a row outlives its token, because clocks differ. */
const KEEP_SECONDS = 120;
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** After every token that is stored: two of one millisecond keep their order. */
const LATEST = `greatest(${NOW}, (SELECT max(handed_at) + 1 FROM countersign_handed_tokens WHERE log = $1))`;

const KEEP = `INSERT INTO countersign_handed_tokens VALUES ($1, $2, $3, ${LATEST}, $4)
  ON CONFLICT (log, name) DO UPDATE SET handed_at = ${LATEST}`;
const READ = `SELECT name, sealed, handed_at FROM countersign_handed_tokens
  WHERE log = $1 AND (handed_at, name) < ($2::bigint, $3) AND expires_at >= ${NOW} / 1000 - ${KEEP_SECONDS}
  ORDER BY handed_at DESC, name DESC LIMIT ${PAGE}`;
/** Removes expired tokens, and the oldest above the limit. */
export const HANDED_SWEEP = [
  `DELETE FROM countersign_handed_tokens WHERE log = $1 AND expires_at < ${NOW} / 1000 - ${KEEP_SECONDS}`,
  `DELETE FROM countersign_handed_tokens WHERE log = $1 AND (handed_at, name) < (
    SELECT handed_at, name FROM countersign_handed_tokens WHERE log = $1
    ORDER BY handed_at DESC, name DESC OFFSET ${MAX_KEPT - 1} LIMIT 1)`,
];

type Row = { readonly name: string; readonly sealed: string; readonly handed_at: string };

/** Stores a token until it expires; the same token of the same session once. */
export async function keepHanded(
  query: Query,
  log: string,
  { session, handed: { token, principal }, sealed, expiresAt }: KeptToken,
): Promise<void> {
  const end = Math.min(Math.ceil(expiresAt), Number.MAX_SAFE_INTEGER);
  const name = sha256Hex(
    JSON.stringify(principal === undefined ? [session, token] : [session, token, principal]),
  );
  await query(KEEP, [log, name, sealed, end]);
}

/** Reads the stored tokens, sealed, with the time they were handed over, the oldest first. */
export async function readHanded(
  query: Query,
  log: string,
): Promise<{ readonly sealed: string; readonly at: number }[]> {
  const kept: { sealed: string; at: number }[] = [];
  let characters = 0;
  let last = { at: Number.MAX_SAFE_INTEGER, name: "" };
  while (kept.length < MAX_KEPT && characters < MAX_CHARACTERS) {
    const rows = await query<Row>(READ, [log, last.at, last.name]);
    for (const row of rows) {
      last = { at: Number(row.handed_at), name: row.name };
      characters += row.sealed.length;
      kept.push({ sealed: row.sealed, at: last.at });
    }
    if (rows.length < PAGE) break;
  }
  return kept.toReversed();
}
