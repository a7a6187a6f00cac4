import { CountersignError, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { openTables } from "../store/postgres/open-tables.js";
import { decodeText, encodeText } from "../thread/text.js";
import "./errors.js";
import { HANDED_SCHEMA, HANDED_SWEEP, keepHanded, readHanded } from "./handed-tokens.js";
import type { KeptToken } from "./handed-tokens.js";
import type { FleetOrder, OrderAnswer } from "../sessions/order.js";

/** A gateway as the others see it. */
export type FleetMember = { readonly id: string; readonly facts: JsonObject };

/** A session as a gateway shows it to the others. */
export type FleetRow = {
  readonly gateway: string;
  readonly session: string;
  readonly lastSeen: number;
  readonly view: JsonObject;
};

/** An order and its place among all of them. */
export type NumberedOrder = {
  readonly serial: number;
  /** Its own name: places are given out again when an older copy of the database comes back. */
  readonly id: string;
  readonly from: string;
  readonly order: FleetOrder;
};

/** What a gateway has to say once a second. */
export type Beat = {
  readonly facts: JsonObject;
  readonly changed: readonly Omit<FleetRow, "gateway">[];
  readonly gone: readonly string[];
};

/** Options of {@link openFleetStore}. */
export type FleetStoreOptions = {
  readonly url: string;
  /** Gateways that know of each other give the same name: that of the log. */
  readonly name: string;
  /** Who is asking. */
  readonly gateway: string;
  /** Milliseconds after which the database counts as one that does not answer; 5,000 when left out. */
  readonly answerMs?: number;
};

/** Orders read in one go. */
export const ORDER_PAGE = 100;
/** Sessions of other gateways read in one go, the ones used last. */
export const MAX_ROWS = 2000;

const ANSWER_MS = 5000;
/** A gateway that was not heard of for this long is not shown; it says something once a second. */
const FRESH_MS = 5000;
/** How long rows of a gateway that died, and orders, are kept. */
const KEEP_MS = 60_000;
// Two gateways that start together must not both create the tables.
const SCHEMA_LOCK = 7_301_990_250;
// Numbers are given out before a commit: without this, a reader could see the later of two and never the earlier.
const ORDER_LOCK = 7_301_990_251;
// The database's own clock: those of gateways differ.
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
// Unlogged: all of it is said again after a crash of the database, and nobody waits for its disk.
const SCHEMA = `
CREATE UNLOGGED TABLE IF NOT EXISTS countersign_gateways (
  log text NOT NULL, gateway text NOT NULL, seen_at bigint NOT NULL, facts text NOT NULL,
  PRIMARY KEY (log, gateway));
CREATE UNLOGGED TABLE IF NOT EXISTS countersign_gateway_sessions (
  log text NOT NULL, gateway text NOT NULL, session text NOT NULL, last_seen bigint NOT NULL,
  view text NOT NULL, PRIMARY KEY (log, gateway, session));
CREATE UNLOGGED TABLE IF NOT EXISTS countersign_orders (
  log text NOT NULL, serial bigint GENERATED ALWAYS AS IDENTITY, id text NOT NULL, asker text NOT NULL,
  body text NOT NULL, made_at bigint NOT NULL, answers text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (log, serial));
CREATE INDEX IF NOT EXISTS countersign_orders_by_id ON countersign_orders (log, id);
${HANDED_SCHEMA}`;
const SAY = `INSERT INTO countersign_gateways VALUES ($1, $2, ${NOW}, $3)
  ON CONFLICT (log, gateway) DO UPDATE SET seen_at = ${NOW}, facts = excluded.facts
  RETURNING xmax = 0 AS is_new`;
const PUT = `INSERT INTO countersign_gateway_sessions
  SELECT $1, $2, session, last_seen, view
  FROM unnest($3::text[], $4::bigint[], $5::text[]) AS row(session, last_seen, view)
  ON CONFLICT (log, gateway, session) DO UPDATE SET last_seen = excluded.last_seen, view = excluded.view`;
const REMOVE = `DELETE FROM countersign_gateway_sessions
  WHERE log = $1 AND gateway = $2 AND session = ANY($3::text[])`;
const LEAVE = [
  "DELETE FROM countersign_gateways WHERE log = $1 AND gateway = $2",
  "DELETE FROM countersign_gateway_sessions WHERE log = $1 AND gateway = $2",
];
const SWEEP = [
  `DELETE FROM countersign_gateways WHERE log = $1 AND seen_at < ${NOW} - ${KEEP_MS}`,
  `DELETE FROM countersign_gateway_sessions AS row WHERE log = $1 AND NOT EXISTS (
    SELECT FROM countersign_gateways AS alive WHERE alive.log = row.log AND alive.gateway = row.gateway)`,
  `DELETE FROM countersign_orders WHERE log = $1 AND made_at < ${NOW} - ${KEEP_MS}`,
  ...HANDED_SWEEP,
];
/** Gateways of a log that are alive, all but one. */
export const MEMBERS = `SELECT gateway, facts FROM countersign_gateways
  WHERE log = $1 AND gateway <> $2 AND seen_at >= ${NOW} - ${FRESH_MS} ORDER BY gateway`;
const SESSIONS = `SELECT gateway, session, last_seen, view FROM countersign_gateway_sessions
  WHERE log = $1 AND gateway <> $2 AND ($3::text IS NULL OR session = $3)
  AND gateway IN (SELECT gateway FROM countersign_gateways WHERE log = $1 AND seen_at >= ${NOW} - ${FRESH_MS})
  ORDER BY last_seen DESC LIMIT ${MAX_ROWS}`;
const ORDER = `INSERT INTO countersign_orders (log, id, asker, body, made_at)
  VALUES ($1, $2, $3, $4, ${NOW})`;
const ORDERS = `SELECT serial, id, asker, body FROM countersign_orders
  WHERE log = $1 AND serial > $2 ORDER BY serial LIMIT ${ORDER_PAGE}`;
const ANSWER = `UPDATE countersign_orders SET answers = array_append(answers, $3)
  WHERE log = $1 AND id = $2`;
const ANSWERS = "SELECT answers FROM countersign_orders WHERE log = $1 AND id = $2";

/** What gateways on one database tell each other. */
export type FleetStore = Awaited<ReturnType<typeof openFleetStore>>;

/** Opens the tables of gateways beside the receipts, and makes them where there are none yet. */
export async function openFleetStore(options: FleetStoreOptions) {
  const { url, name, gateway, answerMs = ANSWER_MS } = options;
  // One for what is said once a second, one for operators and orders meanwhile.
  const access = { url, connections: 2, answerMs, failure: unavailable };
  const database = await openTables(access, { schema: SCHEMA, lock: SCHEMA_LOCK });
  const own = [name, gateway];
  return {
    /** Resolves with whether this gateway was unknown: then all that it said before is unknown too. */
    beat: ({ facts, changed, gone }: Beat): Promise<boolean> =>
      database.inTransaction(async (client) => {
        const { rows } = await client.query(SAY, [...own, JSON.stringify(facts)]);
        const isNew = (rows[0] as { is_new: boolean }).is_new;
        if (gone.length > 0) await client.query(REMOVE, [...own, gone.map(encodeText)]);
        if (changed.length === 0) return isNew;
        await client.query(PUT, [
          ...own,
          changed.map(({ session }) => encodeText(session)),
          changed.map(({ lastSeen }) => lastSeen),
          changed.map(({ view }) => encodeText(JSON.stringify(view))),
        ]);
        return isNew;
      }),
    /** Removes what nobody needs any more: rows of gateways that died, old orders, tokens that expired. */
    sweep: async (): Promise<void> => {
      for (const sql of SWEEP) await database.query(sql, [name]);
    },
    /** The other gateways that are alive. */
    members: async (): Promise<FleetMember[]> => {
      const rows = await database.query<{ gateway: string; facts: string }>(MEMBERS, own);
      return rows.map((row) => ({ id: row.gateway, facts: parseJson(row.facts) as JsonObject }));
    },
    /** Sessions at the other gateways that are alive, or one of them by its id. */
    sessions: async (session?: string): Promise<FleetRow[]> => {
      const wanted = session === undefined ? null : encodeText(session);
      const rows = await database.query<SessionRow>(SESSIONS, [...own, wanted]);
      return rows.map((row) => ({
        gateway: row.gateway,
        session: decodeText(row.session),
        lastSeen: Number(row.last_seen),
        view: parseJson(decodeText(row.view)) as JsonObject,
      }));
    },
    order: (id: string, order: FleetOrder): Promise<void> =>
      database.inTransaction(async (client) => {
        await client.query(`SELECT pg_advisory_xact_lock(${ORDER_LOCK})`);
        await client.query(ORDER, [name, id, gateway, encodeText(JSON.stringify(order))]);
      }),
    ordersAfter: async (serial: number): Promise<NumberedOrder[]> => {
      const rows = await database.query<OrderRow>(ORDERS, [name, serial]);
      return rows.map((row) => ({
        serial: Number(row.serial),
        id: row.id,
        from: row.asker,
        order: parseJson(decodeText(row.body)) as unknown as FleetOrder,
      }));
    },
    answer: async (id: string, answer: Omit<OrderAnswer, "gateway">): Promise<void> => {
      const text = encodeText(JSON.stringify({ gateway, ...answer }));
      await database.query(ANSWER, [name, id, text]);
    },
    answers: async (id: string): Promise<OrderAnswer[]> => {
      const [row] = await database.query<{ answers: string[] }>(ANSWERS, [name, id]);
      return (row?.answers ?? []).map(
        (text) => parseJson(decodeText(text)) as unknown as OrderAnswer,
      );
    },
    /** Keeps a token of a session for gateways that start later. */
    keepToken: (kept: KeptToken): Promise<void> => keepHanded(database.query, name, kept),
    /** The tokens that are kept, sealed, the oldest first. */
    keptTokens: () => readHanded(database.query, name),
    /** Says that this gateway is gone. */
    leave: async (): Promise<void> => {
      for (const sql of LEAVE) await database.query(sql, own);
    },
    close: (): Promise<void> => database.close(),
  };
}

type SessionRow = {
  readonly gateway: string;
  readonly session: string;
  readonly last_seen: string;
  readonly view: string;
};
type OrderRow = {
  readonly serial: string;
  readonly id: string;
  readonly asker: string;
  readonly body: string;
};

function unavailable(): CountersignError<"ERR_FLEET_UNAVAILABLE"> {
  const message = "the database through which gateways know of each other did not answer";
  return new CountersignError("ERR_FLEET_UNAVAILABLE", message, {});
}
