import type { Allowance, SpendingBook } from "@countersign/capability";
import { BUDGETS } from "./budget-count.js";
import type { TotalLimit } from "./count-store.js";
import { LeasedCounts } from "./leased-counts.js";
import type { CountTable, LeasedCountsOptions } from "./leased-counts.js";

/** No limit is reached: only the absence of a reserved event makes a count infinite. */
const UNLIMITED = { capacity: Number.POSITIVE_INFINITY };

/**
 * The budgets of tokens, over all gateways. A decision never waits for a shared store, and without
 * a reserved event it denies.
 */
export class TokenBudgets implements SpendingBook {
  readonly #counts: LeasedCounts;
  readonly #table: CountTable = { held: new Map(), storeKey: (id) => id };

  constructor(options: LeasedCountsOptions) {
    this.#counts = new LeasedCounts(BUDGETS, options);
  }

  /** The number of the next event over all gateways; infinite while none is reserved. */
  spent(id: string): number {
    const held = this.#table.held.get(id);
    return held?.used(UNLIMITED, this.#counts.now()) ?? Number.POSITIVE_INFINITY;
  }

  count(id: string): void {
    const held = this.#table.held.get(id);
    if (held !== undefined) this.#counts.count(held);
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
        (this.#table.held.get(id)?.left(now) ?? 0) >= Math.min(events, maxEvents),
    );
  }

  /**
   * Reserves that many events of each allowance, as far as they are available. Returns a promise
   * when it has to ask the store; it always resolves, and events without a reservation are then
   * denied. With `patienceMs` it waits that long for events that other gateways may return.
   */
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
      const held = this.#table.held.get(id);
      if (held !== undefined) this.#counts.release(held);
    }
  }

  /** Returns all events. */
  close(): Promise<void> {
    return this.#counts.close();
  }
}
