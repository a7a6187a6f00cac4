import { CountersignError, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { openTables, connect } from "../store/postgres/connect.js";
import { decodeText, encodeText } from "../store/stored-text.js";
import "../base/errors.js";
import { HANDED_SWEEP, keepHanded, readHanded } from "./handed-tokens.js";
import type { KeptToken } from "./handed-tokens.js";
import type { FleetOrder, OrderAnswer } from "../sessions/orders.js";

/** Another gateway of the log. */
export type FleetMember = { readonly id: string; readonly facts: JsonObject };

/** A session as its gateway publishes it to the others. */
export type FleetRow = {
  readonly gateway: string;
  readonly session: string;
  readonly lastSeen: number;
  readonly view: JsonObject;
};

/** An order and its sequence number. */
export type NumberedOrder = {
  readonly serial: number;
  /** Unique, unlike `serial`: a restored backup of the database gives out the same serials again. */
  readonly id: string;
  readonly from: string;
  readonly order: FleetOrder;
};

/** The heartbeat that a gateway writes once a second. */
export type Beat = {
  readonly facts: JsonObject;
  readonly changed: readonly Omit<FleetRow, "gateway">[];
  readonly gone: readonly string[];
};

/** Options of {@link openFleetStore}. */
export type FleetStoreOptions = {
  readonly url: string;
  /** The name of the log. Gateways with the same name see each other. */
  readonly name: string;
  /** The name of this gateway. */
  readonly gateway: string;
  /** Query timeout in milliseconds; 5,000 by default. */
  readonly answerMs?: number;
};

/** Orders per query. */
export const ORDER_PAGE = 100;
/** Sessions of other gateways per query, the most recently used ones. */
export const MAX_ROWS = 2000;

const ANSWER_MS = 5000;
/** A gateway without a heartbeat for this long is not listed. Heartbeats come once a second. */
const FRESH_MS = 5000;
/** Retention of orders and of rows of dead gateways. */
const KEEP_MS = 60_000;
// PostgreSQL assigns serials before the commit: a reader could see the later of two orders and skip the earlier one.
const ORDER_LOCK = 7_301_990_251;
// The database's clock, because the clocks of gateways differ.
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
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
/** The live gateways of a log, except one. */
const MEMBERS = `SELECT gateway, facts FROM countersign_gateways
  WHERE log = $1 AND gateway <> $2 AND seen_at >= ${NOW} - ${FRESH_MS} ORDER BY gateway`;
const AGE = `SELECT ${NOW} - seen_at AS age FROM countersign_gateways WHERE log = $1 AND gateway = $2`;
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

/** The tables through which the gateways of a log see each other. */
export type FleetStore = Awaited<ReturnType<typeof openFleetStore>>;

/** Opens the cluster's tables in the database of the receipts, and creates them when they are missing. */
export async function openFleetStore(options: FleetStoreOptions) {
  const { url, name, gateway, answerMs = ANSWER_MS } = options;
  // One connection for heartbeats, one for operators and orders.
  const access = { url, connections: 2, answerMs, failure: unavailable };
  const database = await openTables(access);
  const own = [name, gateway];
  return {
    /** Resolves with true when the database did not know this gateway: then its earlier rows are lost too. */
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
    /** Removes rows of dead gateways, old orders and expired tokens. */
    sweep: async (): Promise<void> => {
      for (const sql of SWEEP) await database.query(sql, [name]);
    },
    /** The other live gateways. */
    members: async (): Promise<FleetMember[]> => {
      const rows = await database.query<{ gateway: string; facts: string }>(MEMBERS, own);
      return rows.map((row) => ({ id: row.gateway, facts: parseJson(row.facts) as JsonObject }));
    },
    /** Milliseconds since a gateway's last heartbeat; `undefined` without a row. */
    heartbeatAge: async (member: string): Promise<number | undefined> => {
      const [row] = await database.query<{ age: string }>(AGE, [name, member]);
      return row === undefined ? undefined : Number(row.age);
    },
    /** Sessions of the other live gateways, or the rows of one session. */
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
    /** Stores a session's token for gateways that start later. */
    keepToken: (kept: KeptToken): Promise<void> => keepHanded(database.query, name, kept),
    /** The stored tokens, sealed, the oldest first. */
    keptTokens: () => readHanded(database.query, name),
    /** Removes this gateway's rows. */
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
  const message = "the database through which the gateways find each other did not respond";
  return new CountersignError("ERR_FLEET_UNAVAILABLE", message, {});
}

const TABLE = "SELECT to_regclass('countersign_gateways') IS NOT NULL AS is_there";

/** Names of the gateways that serve a log in PostgreSQL, or did five seconds ago. Creates no table. */
export async function gatewaysAlive(url: string, log: string): Promise<string[]> {
  const database = connect({ url, connections: 1, answerMs: ANSWER_MS, failure: unavailable });
  try {
    const [table] = await database.query<{ is_there: boolean }>(TABLE, []);
    if (table?.is_there !== true) return [];
    const rows = await database.query<{ gateway: string }>(MEMBERS, [log, ""]);
    return rows.map(({ gateway }) => gateway);
  } finally {
    await database.close();
  }
}
