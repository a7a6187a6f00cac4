import type { JsonObject } from "@countersign/core";
import type { CountKind, CountRequest, CountResult, Lease, TotalLimit } from "./count-store.js";

/** How long a row outlives its token, in seconds: clocks differ, and may be corrected. */
export const KEEP_SECONDS = 86_400;

/** The state of one token over all gateways, as plain JSON. */
export type BudgetCount = {
  /** Events granted to any gateway and not returned. */
  readonly taken: number;
  /** Events known to be used; gateways may return the rest of `taken`. */
  readonly opened: number;
  /** Absent in rows of older gateways, whose grants are only in `taken`. */
  readonly leases?: readonly Lease[];
  /** The expiry of the token in seconds. */
  readonly expiresAt: number;
};

/**
 * The budgets of tokens. A lease has no end: granted events can be used while the store is silent,
 * and the events of a killed gateway are lost. Only the start of a run waits for other gateways.
 */
export const BUDGETS: CountKind = {
  partition: "budgets",
  rows: "budget",
  terms: {
    leaseMs: Number.POSITIVE_INFINITY,
    maxBlock: 256,
    idleMs: 5000,
    patienceMs: 0,
    silenceMs: 0,
  },
  grant: (row, request, gateway) => {
    const before = row as unknown as BudgetCount | undefined;
    const { count, result } = grantBudget(before, request as CountRequest<TotalLimit>, gateway);
    return { row: count as unknown as JsonObject, result };
  },
  isOld: (row, now) =>
    (row as unknown as BudgetCount).expiresAt < Math.floor(now / 1000) - KEEP_SECONDS,
};

/**
 * Handles a request about a budget. Over all gateways, granted events that were not returned never
 * exceed the limit. A lease is settled once, under its id: a repeated report changes nothing.
 */
export function grantBudget(
  before: BudgetCount | undefined,
  { limit, settled, wanted, lease }: CountRequest<TotalLimit>,
  gateway: string,
): { readonly count: BudgetCount; readonly result: CountResult } {
  let { taken = 0, opened = 0 } = before ?? {};
  const open: Lease[] = [];
  for (const one of before?.leases ?? []) {
    const end = settled.find(({ id }) => id === one.id);
    if (end === undefined) {
      open.push(one);
      continue;
    }
    const used = Math.min(end.used, one.events);
    taken -= one.events - used;
    opened += used;
  }
  const given = Math.max(0, Math.min(wanted, Math.floor(limit.capacity - taken)));
  taken += given;
  if (given > 0) open.push({ id: lease, gateway, events: given });
  let own = 0;
  for (const one of open) if (one.gateway === gateway) own += one.events;
  // A Chio token may have no expiry, or one above the largest integer.
  const end = Math.min(limit.expiresAt, Number.MAX_SAFE_INTEGER);
  return {
    count: { taken, opened, leases: open, expiresAt: Math.max(before?.expiresAt ?? 0, end) },
    result: { given, used: taken, elsewhere: Math.max(0, taken - opened - own) },
  };
}
