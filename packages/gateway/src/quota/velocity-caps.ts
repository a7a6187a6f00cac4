import type { JsonObject } from "@countersign/core";
import { createVelocityCounter } from "@countersign/policy";
import type { VelocitySnapshot, SharedCounts, VelocityLimit } from "@countersign/policy";
import type { CountKind, CountRequest, CountResult, Lease, WindowLimit } from "./count-store.js";
import { sha256Hex } from "@countersign/core";
import { LeasedCounts } from "./leased-counts.js";
import type { CountTable, LeasedCountsOptions } from "./leased-counts.js";

/** How long a gateway may use granted events, in milliseconds of its own clock from before its request. */
export const LEASE_MS = 5000;
/** How much longer they count as granted: clocks may run a fifth faster or slower than the database's. */
const GRACE_MS = 1000;
/** How long granted events count as granted without a report. */
export const KEPT_LEASE_MS = LEASE_MS + GRACE_MS;

/** A lease that counts as used from a time on, when its gateway did not report. */
type EndingLease = Lease & { readonly until: number };

/** The state of one key under one limit over all gateways, as plain JSON. */
export type VelocityCount = {
  readonly counted: VelocitySnapshot;
  readonly leases: readonly EndingLease[];
};

/** A count and the time from which it is certainly empty. */
type VelocityRow = { readonly count: VelocityCount; readonly emptyAt: number };

/**
 * The counts of velocity caps. A lease ends soon, so that the events of a killed gateway leave the window. Gateways
 * return unused events four times a second, so an event waits a second for them.
 */
export const VELOCITY: CountKind = {
  partition: "velocity",
  rows: "velocity",
  terms: { leaseMs: LEASE_MS, maxBlock: 1024, idleMs: 500, patienceMs: 1000, silenceMs: 3000 },
  grant: (row, request, gateway, now) => {
    const { count: before } = (row ?? {}) as unknown as Partial<VelocityRow>;
    const asked = request as CountRequest<WindowLimit>;
    const { count, result } = grantVelocity(before, asked, gateway, now);
    const after: VelocityRow = { count, emptyAt: emptyAt(asked.limit, now) };
    return { row: after as unknown as JsonObject, result };
  },
  isOld: (row, now) => (row as unknown as VelocityRow).emptyAt < now,
};

/**
 * Handles a request about a count; `now` is the clock that all gateways share.
 *
 * Counted and granted events together never exceed the limit. An event counts at or after the
 * moment of its use, and as granted until then. So no window holds more than the limit, whatever
 * the gateways' clocks say. A lease is settled once, under its id: a repeated or late report
 * changes nothing.
 */
export function grantVelocity(
  before: VelocityCount | undefined,
  { limit, settled, wanted, lease }: CountRequest<WindowLimit>,
  gateway: string,
  now: number,
): { readonly count: VelocityCount; readonly result: CountResult } {
  const counter = createVelocityCounter(limit, before?.counted);
  const leases = before?.leases ?? [];
  // No report came in time: all events count as used at the last moment.
  for (const { events, until } of leases) if (until <= now) counter.add(until, events);
  const open: EndingLease[] = [];
  for (const one of leases) {
    if (one.until <= now) continue;
    const end = settled.find(({ id }) => id === one.id);
    if (end === undefined) open.push(one);
    else counter.add(now, Math.min(end.used, one.events), now - Math.max(0, end.ageMs));
  }
  const sum = (events: number, one: Lease): number => events + one.events;
  const used = counter.used(now) + open.reduce(sum, 0);
  const given = Math.max(0, Math.min(wanted, Math.floor(limit.capacity - used)));
  const others = open.filter((one) => one.gateway !== gateway).reduce(sum, 0);
  if (given > 0) {
    open.push({ id: lease, gateway, events: given, until: now + KEPT_LEASE_MS });
  }
  return {
    count: { counted: counter.toJSON(), leases: open },
    result: { given, used: used + given, elsewhere: others },
  };
}

/** The time from which a count without further requests is certainly empty. */
export function emptyAt({ kind, max, capacity, windowMs }: WindowLimit, now: number): number {
  // A window's oldest slice counts as a whole, and a bucket drains its whole debt at its rate.
  const span = kind === "bucket" ? (windowMs * Math.max(1, capacity)) / max : windowMs;
  return now + KEPT_LEASE_MS + 2 * span;
}

/** The longest time in milliseconds until a count forgets an event. */
export function spanOf({ kind, max, capacity, windowMs }: WindowLimit): number {
  // A bucket drains its whole debt at its rate.
  return kind === "bucket" ? (windowMs * Math.max(1, capacity)) / max : windowMs;
}

/** Counts of short caps in a store of their own. */
export type ShortCounts = LeasedCountsOptions & {
  /** Caps whose count forgets an event within this time, in milliseconds. */
  readonly spanMs: number;
};

/** The velocity caps of sessions and agents, over all gateways. */
export class VelocityCaps {
  readonly #counts: LeasedCounts;
  readonly #short: LeasedCounts | undefined;
  readonly #shortMs: number;
  /** By limit: a reloaded policy continues with the reserved events. */
  readonly #tables = new Map<string, CountTable>();

  /** @param short the counts of short caps, where another store has them */
  constructor(options: LeasedCountsOptions, short?: ShortCounts) {
    this.#counts = new LeasedCounts(VELOCITY, options);
    this.#short = short && new LeasedCounts(VELOCITY, short);
    this.#shortMs = short?.spanMs ?? 0;
  }

  /** The counts of a limit; `undefined` for a limit per connection, which its own gateway counts. */
  of(limit: VelocityLimit): SharedCounts | undefined {
    if (limit.scope === "connection") return undefined;
    const counts =
      this.#short !== undefined && spanOf(limit) <= this.#shortMs ? this.#short : this.#counts;
    const table = this.#tableOf(limit, counts);
    const { reserved } = table;
    return {
      used: (key) => reserved.get(key)?.used(limit, counts.now()) ?? Number.POSITIVE_INFINITY,
      count: (key) => {
        const one = reserved.get(key);
        if (one !== undefined) counts.count(one);
      },
      reserve: (key, events) => counts.reserve(table, key, limit, events),
      release: (key) => {
        const one = reserved.get(key);
        if (one !== undefined) counts.release(one);
      },
    };
  }

  /** Returns all events. */
  async close(): Promise<void> {
    await Promise.all([this.#counts.close(), this.#short?.close()]);
  }

  #tableOf({ id, kind, windowMs, scope }: VelocityLimit, counts: LeasedCounts): CountTable {
    const name = JSON.stringify([id, kind, windowMs, scope]);
    const storeKey = (key: string): string => sha256Hex(JSON.stringify([name, key]));
    // A changed bucket may move to the other store: what is reserved in one is not in the other.
    const place = counts === this.#short ? `short ${name}` : name;
    const table = this.#tables.get(place) ?? { reserved: new Map(), storeKey };
    this.#tables.set(place, table);
    return table;
  }
}
