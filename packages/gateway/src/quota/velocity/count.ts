import { createVelocityCounter } from "@countersign/policy";
import type { VelocityLimit, VelocitySnapshot } from "@countersign/policy";

/** How long a gateway may use events that it was given, in milliseconds by its own clock from before it asked. */
export const LEASE_MS = 5000;
/** How much longer they count as given, in milliseconds: clocks may run a fifth faster or slower than the database's. */
const GRACE_MS = 1000;

/** Of a cap, what a count needs to know. */
export type CountedLimit = Pick<VelocityLimit, "kind" | "max" | "capacity" | "windowMs">;

/** Events that were given to a gateway, which has not yet said what became of them. */
type Lease = {
  readonly id: string;
  readonly gateway: string;
  readonly events: number;
  readonly until: number;
};

/** How one key stands under one cap over all gateways, as plain JSON. */
export type VelocityCount = {
  readonly counted: VelocitySnapshot;
  readonly leases: readonly Lease[];
};

/** What became of a lease: so many events were used, the last of them so many milliseconds ago; the rest goes back. */
export type SettledLease = { readonly id: string; readonly used: number; readonly ageMs: number };

/** What a gateway says and asks about one key under one cap. */
export type CountRequest = {
  readonly limit: CountedLimit;
  readonly settled: readonly SettledLease[];
  /** Events asked for, and the name under which they are given; none where only something is settled. */
  readonly wanted: number;
  readonly lease: string;
};

/** What was given, and how the key stands then. */
export type CountResult = {
  readonly given: number;
  /** Events in the window and given out, these included. */
  readonly used: number;
  /** Events that other gateways have at hand, or have used and not said so yet. */
  readonly elsewhere: number;
};

/**
 * Answers a question about a count; `now` is the clock that all gateways share.
 *
 * What was counted and what is given out are together never more than the cap. An event is counted at or after the
 * moment it was used, and is given out until then, so that no window holds more than the cap, whatever the
 * gateways' clocks say. A lease is settled once, under its own name: said again, or too late, it changes nothing.
 */
export function grantCount(
  before: VelocityCount | undefined,
  { limit, settled, wanted, lease }: CountRequest,
  gateway: string,
  now: number,
): { readonly count: VelocityCount; readonly answer: CountResult } {
  const counter = createVelocityCounter(limit, before?.counted);
  const leases = before?.leases ?? [];
  // Nobody said in time what became of it: as if all of it was used at the last moment.
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
    answer: { given, used: used + given, elsewhere: others },
  };
}

/** When a count that nobody asks about any more is empty for certain. */
export function emptyAt({ kind, max, capacity, windowMs }: CountedLimit, now: number): number {
  // A window's oldest slice counts whole, and all of a bucket's debt is paid at its rate.
  const span = kind === "bucket" ? (windowMs * Math.max(1, capacity)) / max : windowMs;
  return now + LEASE_MS + GRACE_MS + 2 * span;
}
