import type { Allowance, SpendingBook } from "@countersign/capability";
import type { BudgetGrant, BudgetReturn, BudgetStore } from "./budget-store.js";

/** The most that is taken at once; what is lost with a process is at most this, of each capability in use. */
const MAX_BLOCK = 256;
/** The part of what is left that is taken at once, so that others find something too. */
const SHARE = 8;
/** Blocks from this size on are fetched before the last one is used up. */
const AHEAD_FROM = 16;
/** How long nothing is asked for after there was nothing, or no answer. */
const PAUSE_MS = 1000;
/** Between two questions of somebody who waits for what others may give back. */
const PATIENCE_STEP_MS = 100;
/** What nobody used for this long goes back. */
const IDLE_MS = 5000;
/** Capabilities with a limit that are in use at once. */
const MAX_HELD = 100_000;

/** Events of one capability that this gateway may still open. */
type Held = {
  readonly id: string;
  maxEvents: number;
  expiresAt: number;
  /** What is at hand. */
  left: number;
  /** What was taken over all gateways, when it was last heard. */
  taken: number;
  /** Opened here and not told yet. */
  opened: number;
  /** The size of the block that came last. */
  block: number;
  usedAt: number;
  /** Nothing is asked before this time. */
  restUntil: number;
  /** All of it has been opened: there is nothing that could come back. */
  isOver: boolean;
  asking: Promise<void> | undefined;
};

/** Told when the store fails after it did not, and the other way round. */
export type BudgetListener = (isSilent: boolean) => void;

/**
 * Counts against what was reserved beforehand: a decision never waits for a store that others use too, and what is
 * not at hand cannot be opened. Silence of the store leaves what is at hand, and then nothing.
 */
export class ReservedSpending implements SpendingBook {
  readonly #store: BudgetStore;
  readonly #listener: BudgetListener;
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();
  readonly #timer: NodeJS.Timeout;
  readonly #returning = new Set<Promise<void>>();
  #isSilent = false;

  /** `now` is a clock that never goes back, in milliseconds. */
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

  /** The number of the next event over all gateways; beyond every limit while nothing is at hand. */
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

  /** Room is asked for with the reservation; without one, nothing is at hand. */
  isFull(): boolean {
    return false;
  }

  /** Whether so many events of each allowance can be opened without a question. */
  isAtHand(allowances: readonly Allowance[], events: number): boolean {
    return allowances.every(
      ({ id, maxEvents }) => (this.#held.get(id)?.left ?? 0) >= Math.min(events, maxEvents),
    );
  }

  /**
   * Sees to it that so many events are at hand of each allowance, as far as they can be had. A promise where that has to be asked
   * for: it resolves in any case, and what is not at hand then is refused. `patienceMs` waits that long for what
   * other gateways may give back.
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
      // Who waits at the start of a run asks anew: others may have given back since the last time.
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

  /** A run that used these is over: what is left of them goes back, so that it is there for the next one elsewhere. */
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
      // Whoever comes next asks; only what is certain needs to be kept.
      if (held.asking === undefined && !held.isOver) this.#held.delete(id);
    }
    if (returned.length === 0) return;
    // What does not arrive is lost to everybody: less is opened than could be, never more.
    const arriving: Promise<void> = this.#store
      .giveBack(returned)
      .catch(() => this.#heard(false))
      .finally(() => this.#returning.delete(arriving));
    this.#returning.add(arriving);
  }

  /** Gives everything back. */
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
    let answer: BudgetGrant;
    try {
      answer = await this.#store.take({ id, maxEvents, expiresAt, wanted, opened });
    } catch {
      // It may have been taken all the same; then it is lost, and nobody opens it.
      held.restUntil = this.#now() + PAUSE_MS;
      this.#heard(false);
      return;
    }
    this.#heard(true);
    held.left += answer.given;
    held.taken = answer.taken;
    held.block = answer.given;
    held.usedAt = this.#now();
    if (answer.given > 0) {
      held.restUntil = 0;
      return;
    }
    held.isOver = held.left === 0 && answer.opened >= maxEvents;
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
