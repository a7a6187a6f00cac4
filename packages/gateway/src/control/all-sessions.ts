import type { ControlSession } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import type { Fleet } from "../cluster/fleet.js";
import type { FleetRow } from "../cluster/fleet-store.js";
import type { Sessions } from "../sessions/sessions.js";
import { joinViews, sessionView } from "../sessions/session-view.js";

/** Sessions of this gateway and of the others on its database. */
export type AllSessions = {
  /** The name of this gateway in the fleet. */
  readonly gateway: string;
  readonly sessions: Sessions;
  /** `undefined` for a gateway with its own store. */
  readonly fleet: Fleet | undefined;
};

/** Builds each view on demand: only one page of a long list is shown. */
export type SessionList = {
  readonly items: readonly (() => ControlSession)[];
  /** Whether the other gateways could not be read: the list then has only local sessions. */
  readonly isPartial: boolean;
};

/** All sessions, most recently used first. */
export async function listSessions(all: AllSessions): Promise<SessionList> {
  const { rows, isPartial } = await rowsOf(all);
  const { sessions, gateway } = all;
  const elsewhere = new Map<string, FleetRow[]>();
  for (const row of rows) elsewhere.set(row.session, [...(elsewhere.get(row.session) ?? []), row]);
  const items = sessions.list().map((session) => {
    const others = elsewhere.get(session.id) ?? [];
    elsewhere.delete(session.id);
    const lastSeen = Math.max(session.lastSeen, ...others.map((row) => row.lastSeen));
    return {
      lastSeen,
      view: () => joinViews([sessionView(session, gateway), ...others.map(viewOf)]),
    };
  });
  for (const [first, ...others] of elsewhere.values()) {
    if (first === undefined) continue;
    const { lastSeen } = first;
    items.push({ lastSeen, view: () => joinViews([viewOf(first), ...others.map(viewOf)]) });
  }
  // Keeps the order when there are only local sessions.
  if (rows.length > 0) items.sort((one, other) => other.lastSeen - one.lastSeen);
  return { items: items.map(({ view }) => view), isPartial };
}

/** Finds a session at this gateway or at another one. */
export async function findSession(
  all: AllSessions,
  id: string,
): Promise<ControlSession | undefined> {
  const here = all.sessions.find(id);
  const { rows } = await rowsOf(all, id);
  const [first, ...others] = [
    ...(here === undefined ? [] : [sessionView(here, all.gateway)]),
    ...rows.map(viewOf),
  ];
  return first === undefined ? undefined : joinViews([first, ...others]);
}

/** An unavailable database must not hide the sessions of this gateway. */
async function rowsOf(
  { fleet }: AllSessions,
  id?: string,
): Promise<{ rows: readonly FleetRow[]; isPartial: boolean }> {
  if (fleet === undefined) return { rows: [], isPartial: false };
  try {
    return { rows: await fleet.sessions(id), isPartial: false };
  } catch (error) {
    if (isCountersignError(error, "ERR_FLEET_UNAVAILABLE")) return { rows: [], isPartial: true };
    throw error;
  }
}

function viewOf({ view }: FleetRow): ControlSession {
  return view as unknown as ControlSession;
}
