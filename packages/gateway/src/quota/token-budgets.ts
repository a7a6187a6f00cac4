import type { Allowance, SpendingBook } from "@countersign/capability";
import type { TotalLimit, CountKind, CountRequest, CountResult, Lease } from "./count-store.js";
import { LeasedCounts } from "./leased-counts.js";
import type { CountTable, LeasedCountsOptions } from "./leased-counts.js";
import type { JsonObject } from "@countersign/core";

/** No limit is reached: only the absence of a reserved event makes a count infinite. */
const UNLIMITED = { capacity: Number.POSITIVE_INFINITY };

/**
 * The budgets of tokens over all gateways. A decision never waits for the store; without a reserved event it denies.
 */
export class TokenBudgets implements SpendingBook {
  readonly #counts: LeasedCounts;
  readonly #table: CountTable = { reserved: new Map(), storeKey: (id) => id };

  constructor(options: LeasedCountsOptions) {
    this.#counts = new LeasedCounts(BUDGETS, options);
  }

  /** The number of the next event over all gateways; infinite while none is reserved. */
  spent(id: string): number {
    const reserved = this.#table.reserved.get(id);
    return reserved?.used(UNLIMITED, this.#counts.now()) ?? Number.POSITIVE_INFINITY;
  }

  count(id: string): void {
    const reserved = this.#table.reserved.get(id);
    if (reserved !== undefined) this.#counts.count(reserved);
  }

  /** Never full: room is checked at the reservation. */
  isFull(): boolean {
    return false;
  }

  /** True when that many events of each allowance can be used without a request. */
  isAtHand(allowances: readonly Allowance[], events: number): boolean {
    const now = this.#counts.now();
    return allowances.every(
      ({ id, maxEvents }) =>
        (this.#table.reserved.get(id)?.left(now) ?? 0) >= Math.min(events, maxEvents),
    );
  }

  /** Reserves that many events of each allowance; see {@link LeasedCounts.reserve}. */
  reserve(
    allowances: readonly Allowance[],
    events: number,
    patienceMs?: number,
  ): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined;
    for (const { id, maxEvents, expiresAt } of allowances) {
      const limit: TotalLimit = {
        kind: "total",
        capacity: maxEvents,
        windowMs: Number.POSITIVE_INFINITY,
        expiresAt,
      };
      const until = this.#counts.reserve(this.#table, id, limit, events, patienceMs);
      if (until !== undefined) (waits ??= []).push(until);
    }
    return waits === undefined ? undefined : Promise.all(waits).then(() => undefined);
  }

  /** Called at the end of a run: returns this gateway's unused events of these tokens. Its other runs reserve again. */
  settle(ids: Iterable<string>): void {
    for (const id of ids) {
      const reserved = this.#table.reserved.get(id);
      if (reserved !== undefined) this.#counts.release(reserved);
    }
  }

  /** Returns all events. */
  close(): Promise<void> {
    return this.#counts.close();
  }
}

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
 * The budgets of tokens. A lease has no end: the events of a killed gateway are lost. Only the start of a run waits for
 * other gateways.
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
 * Handles a request about a budget. Granted events that were not returned never exceed the limit. A lease is settled
 * once, under its id: a repeated report changes nothing.
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
