import { createVelocityCounter } from "@countersign/policy";
import type { VelocityLimit, VelocitySnapshot } from "@countersign/policy";

/**
 * How long a gateway may use granted events, in milliseconds of its own clock from before its
 * request.
 */
export const LEASE_MS = 5000;
/**
 * How much longer they count as granted, in milliseconds: clocks may run a fifth faster or slower
 * than the database's.
 */
const GRACE_MS = 1000;

/** The fields of a limit that a count needs. */
export type CountedLimit = Pick<VelocityLimit, "kind" | "max" | "capacity" | "windowMs">;

/** Events granted to a gateway, which has not yet reported their use. */
type Lease = {
  readonly id: string;
  readonly gateway: string;
  readonly events: number;
  readonly until: number;
};

/** The state of one key under one limit over all gateways, as plain JSON. */
export type VelocityCount = {
  readonly counted: VelocitySnapshot;
  readonly leases: readonly Lease[];
};

/**
 * The report on a lease: the number of used events, and the age of the last use in milliseconds;
 * the rest is returned.
 */
export type SettledLease = { readonly id: string; readonly used: number; readonly ageMs: number };

/** A gateway's reports and request for one key under one limit. */
export type CountRequest = {
  readonly limit: CountedLimit;
  readonly settled: readonly SettledLease[];
  /** Requested events, and the id of their lease; 0 for a report only. */
  readonly wanted: number;
  readonly lease: string;
};

/** The granted events, and the state of the key afterwards. */
export type CountResult = {
  readonly given: number;
  /** Events in the window and granted, these included. */
  readonly used: number;
  /** Events that other gateways have reserved, or have used and not reported yet. */
  readonly elsewhere: number;
};

/**
 * Handles a request about a count; `now` is the clock that all gateways share.
 *
 * Counted and granted events together never exceed the limit. An event counts at or after the
 * moment of its use, and as granted until then. So no window holds more than the limit, whatever
 * the gateways' clocks say. A lease is settled once, under its id: a repeated or late report
 * changes nothing.
 */
export function grantCount(
  before: VelocityCount | undefined,
  { limit, settled, wanted, lease }: CountRequest,
  gateway: string,
  now: number,
): { readonly count: VelocityCount; readonly result: CountResult } {
  const counter = createVelocityCounter(limit, before?.counted);
  const leases = before?.leases ?? [];
  // No report came in time: all events count as used at the last moment.
  for (const { events, until } of leases) if (until <= now) counter.add(until, events);
  const open: Lease[] = [];
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
    open.push({ id: lease, gateway, events: given, until: now + LEASE_MS + GRACE_MS });
  }
  return {
    count: { counted: counter.toJSON(), leases: open },
    result: { given, used: used + given, elsewhere: others },
  };
}

/** The time from which a count without further requests is certainly empty. */
export function emptyAt({ kind, max, capacity, windowMs }: CountedLimit, now: number): number {
  // A window's oldest slice counts as a whole, and a bucket drains its whole debt at its rate.
  const span = kind === "bucket" ? (windowMs * Math.max(1, capacity)) / max : windowMs;
  return now + LEASE_MS + GRACE_MS + 2 * span;
}
