import type { Allowance, SpendingBook } from "@countersign/capability";
import type { BudgetGrant, BudgetReturn, BudgetStore } from "./budget-store.js";

/** The largest block; a crash loses at most this many events of each capability in use. */
const MAX_BLOCK = 256;
/** The fraction of the remaining events in one block, so that other gateways find some too. */
const SHARE = 8;
/** Blocks of at least this size are renewed before the last one is exhausted. */
const AHEAD_FROM = 16;
/** Pause after an empty or a failed response. */
const PAUSE_MS = 1000;
/** Time between two requests while a caller waits for events that others may return. */
const PATIENCE_STEP_MS = 100;
/** Events that were unused for this long are returned. */
const IDLE_MS = 5000;
/** Maximum number of limited capabilities in use. */
const MAX_HELD = 100_000;

/** Events of one capability that this gateway may still use. */
type Held = {
  readonly id: string;
  maxEvents: number;
  expiresAt: number;
  /** Reserved events. */
  left: number;
  /** Events granted over all gateways, as of the last response. */
  taken: number;
  /** Used here and not reported yet. */
  opened: number;
  /** The size of the last block. */
  block: number;
  usedAt: number;
  /** No request is sent before this time. */
  restUntil: number;
  /** All events were used, so none can be returned. */
  isOver: boolean;
  asking: Promise<void> | undefined;
};

/** Called when the store fails after a success, and when it succeeds after a failure. */
export type BudgetListener = (isSilent: boolean) => void;

/**
 * Counts against events reserved in advance: a decision never waits for a shared store, and without
 * a reserved event it denies. While the store is silent, reserved events can still be used.
 */
export class ReservedSpending implements SpendingBook {
  readonly #store: BudgetStore;
  readonly #listener: BudgetListener;
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();
  readonly #timer: NodeJS.Timeout;
  readonly #returning = new Set<Promise<void>>();
  #isSilent = false;

  /** @param now a monotonic clock, in milliseconds */
  constructor(
    store: BudgetStore,
    listener: BudgetListener = () => {},
    now: () => number = () => performance.now(),
  ) {
    this.#store = store;
    this.#listener = listener;
    this.#now = now;
    this.#timer = setInterval(() => this.#sweep(), IDLE_MS);
    this.#timer.unref();
  }

  /** The number of the next event over all gateways; infinite while none is reserved. */
  spent(id: string): number {
    const held = this.#held.get(id);
    return held === undefined || held.left === 0
      ? Number.POSITIVE_INFINITY
      : held.taken - held.left;
  }

  count(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined || held.left === 0) return;
    held.left -= 1;
    held.opened += 1;
    held.usedAt = this.#now();
    if (held.block >= AHEAD_FROM && held.left * 2 <= held.block && this.#mayAsk(held)) {
      void this.#ask(held, 1);
    }
  }

  /** Never full: room is checked at the reservation. */
  isFull(): boolean {
    return false;
  }

  /** True when that many events of each allowance can be used without a request. */
  isAtHand(allowances: readonly Allowance[], events: number): boolean {
    return allowances.every(
      ({ id, maxEvents }) => (this.#held.get(id)?.left ?? 0) >= Math.min(events, maxEvents),
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
    patienceMs = 0,
  ): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined;
    for (const allowance of allowances) {
      const held = this.#open(allowance);
      if (held === undefined || held.left >= Math.min(events, allowance.maxEvents)) continue;
      // The start of a run asks again: others may have returned events since the last time.
      const isAskedAnew = patienceMs > 0 && !held.isOver && !this.#isSilent;
      if (!isAskedAnew && !this.#mayAsk(held)) continue;
      (waits ??= []).push(
        patienceMs === 0
          ? this.#ask(held, events)
          : this.#askPatiently(held, events, this.#now() + patienceMs),
      );
    }
    return waits === undefined ? undefined : Promise.all(waits).then(() => undefined);
  }

  /** Called at the end of a run: returns its unused events, so that other gateways can use them. */
  settle(ids: Iterable<string>): void {
    const returned: BudgetReturn[] = [];
    for (const id of ids) {
      const held = this.#held.get(id);
      if (held === undefined) continue;
      const { left, opened } = held;
      if (left > 0 || opened > 0) returned.push({ id, unused: left, opened });
      held.left = 0;
      held.opened = 0;
      held.taken -= left;
      // The next use asks again, so only an exhausted budget must be remembered.
      if (held.asking === undefined && !held.isOver) this.#held.delete(id);
    }
    if (returned.length === 0) return;
    // Events that cannot be returned are lost: fewer events are allowed than the limit, never more.
    const arriving: Promise<void> = this.#store
      .giveBack(returned)
      .catch(() => this.#heard(false))
      .finally(() => this.#returning.delete(arriving));
    this.#returning.add(arriving);
  }

  /** Returns all events. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#held.values()].map(({ asking }) => asking));
    this.settle([...this.#held.keys()]);
    await Promise.all(this.#returning);
    await this.#store.close();
  }

  #open({ id, maxEvents, expiresAt }: Allowance): Held | undefined {
    const known = this.#held.get(id);
    if (known !== undefined) {
      known.expiresAt = Math.max(known.expiresAt, expiresAt);
      known.maxEvents = maxEvents;
      return known;
    }
    if (this.#held.size >= MAX_HELD) this.#sweep();
    if (this.#held.size >= MAX_HELD) return undefined;
    const held: Held = {
      id,
      maxEvents,
      expiresAt,
      left: 0,
      taken: 0,
      opened: 0,
      block: 0,
      usedAt: this.#now(),
      restUntil: 0,
      isOver: false,
      asking: undefined,
    };
    this.#held.set(id, held);
    return held;
  }

  #mayAsk(held: Held): boolean {
    return !held.isOver && (held.asking !== undefined || this.#now() >= held.restUntil);
  }

  #ask(held: Held, events: number): Promise<void> {
    held.asking ??= this.#take(held, events).finally(() => {
      held.asking = undefined;
    });
    return held.asking;
  }

  async #askPatiently(held: Held, events: number, until: number): Promise<void> {
    for (;;) {
      await this.#ask(held, events);
      if (held.left > 0 || held.isOver || this.#isSilent || this.#now() >= until) return;
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_STEP_MS));
    }
  }

  async #take(held: Held, events: number): Promise<void> {
    const { id, maxEvents, expiresAt, opened } = held;
    const share = Math.min(MAX_BLOCK, Math.ceil(Math.max(0, maxEvents - held.taken) / SHARE));
    const wanted = Math.max(1, share, events - held.left);
    held.opened = 0;
    let grant: BudgetGrant;
    try {
      grant = await this.#store.take({ id, maxEvents, expiresAt, wanted, opened });
    } catch {
      // The store may have granted them all the same; then they are lost, and no gateway uses them.
      held.restUntil = this.#now() + PAUSE_MS;
      this.#heard(false);
      return;
    }
    this.#heard(true);
    held.left += grant.given;
    held.taken = grant.taken;
    held.block = grant.given;
    held.usedAt = this.#now();
    if (grant.given > 0) {
      held.restUntil = 0;
      return;
    }
    held.isOver = held.left === 0 && grant.opened >= maxEvents;
    held.restUntil = this.#now() + PAUSE_MS;
  }

  #heard(didAnswer: boolean): void {
    if (this.#isSilent === !didAnswer) return;
    this.#isSilent = !didAnswer;
    this.#listener(!didAnswer);
  }

  #sweep(): void {
    const now = this.#now();
    const idle: string[] = [];
    for (const [id, held] of this.#held) {
      if (held.asking !== undefined || now - held.usedAt < IDLE_MS) continue;
      if (held.isOver) this.#held.delete(id);
      else idle.push(id);
    }
    this.settle(idle);
  }
}
