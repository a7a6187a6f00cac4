import { sha256Hex } from "@countersign/core";
import type { SharedCounts, VelocityLimit } from "@countersign/policy";
import type { CountResult, CountedLimit } from "./count.js";
import { Exchange } from "./exchange.js";
import { HeldCount } from "./held-count.js";
import type { VelocityStore } from "./velocity-store.js";

/** Time between two checks for events to return. */
const CHECK_MS = 250;
/** Events that were unused for this long are returned. */
const IDLE_MS = 500;
/** How long an event waits for what other gateways may return: they check four times a second. */
const PATIENCE_MS = 1000;
const PATIENCE_STEP_MS = 100;
/**
 * How long no event waits again after a useless wait: at an exhausted limit, runs must not stall
 * every second.
 */
const IMPATIENCE_MS = 10_000;
/**
 * After this long without a response no event waits for the database, not even with a request that
 * is still to be sent.
 */
const HICCUP_MS = 3000;
/** Pause after a failed response, and the maximum pause for an exhausted count. */
const REST_MS = 1000;
/** Checks between two removals of empty counts. */
const SWEEP_CHECKS = 240;
/** Maximum number of counts in use. */
const MAX_HELD = 100_000;

/** Called when the store fails after a success, and when it succeeds after a failure. */
export type VelocityListener = (isSilent: boolean) => void;

/** Metrics of the shared counts. */
export type VelocityFigures = {
  /** Times that events waited for a response. */
  waits: number;
  /** Requests without a response. */
  failures: number;
  /** True when the last request had no response. */
  isSilent: boolean;
};

/** Options of {@link LeasedCounts}. */
export type LeasedCountsOptions = {
  readonly store: VelocityStore;
  /** The name of this gateway among those that share the counts. */
  readonly gateway: string;
  readonly listener?: VelocityListener;
  readonly figures?: VelocityFigures;
  /** A monotonic clock in milliseconds; the process's by default. */
  readonly now?: () => number;
};

type Place = { readonly table: Map<string, HeldCount>; readonly name: string };

/**
 * Counts that hold over all gateways. Events are reserved from the store in blocks before they are
 * needed, so that a decision never waits and no two gateways use the same event. While the store is
 * silent, reserved events can be used for five seconds.
 */
export class LeasedCounts {
  readonly #figures: VelocityFigures;
  readonly #store: VelocityStore;
  readonly #exchange: Exchange;
  readonly #listener: VelocityListener;
  readonly #now: () => number;
  /** By limit, then by key: a reloaded policy continues with the reserved events. */
  readonly #tables = new Map<string, Map<string, HeldCount>>();
  readonly #held = new Map<HeldCount, Place & { readonly limit: CountedLimit }>();
  readonly #timer: NodeJS.Timeout;
  #checks = 0;
  #silentSince: number | undefined;
  #isClosed = false;

  constructor({ store, gateway, listener = () => {}, figures, now }: LeasedCountsOptions) {
    this.#store = store;
    this.#figures = figures ?? { waits: 0, failures: 0, isSilent: false };
    this.#listener = listener;
    this.#now = now ?? (() => performance.now());
    this.#exchange = new Exchange(store, gateway, (didAnswer) => this.#heard(didAnswer), this.#now);
    this.#timer = setInterval(() => this.#look(), CHECK_MS);
    this.#timer.unref();
  }

  /**
   * The counts of a limit; `undefined` for a limit per connection, which its own gateway counts.
   */
  of(limit: VelocityLimit): SharedCounts | undefined {
    if (limit.scope === "connection") return undefined;
    const name = JSON.stringify([limit.id, limit.kind, limit.windowMs, limit.scope]);
    const table = this.#tables.get(name) ?? new Map<string, HeldCount>();
    this.#tables.set(name, table);
    return {
      used: (key) => table.get(key)?.used(limit, this.#now()) ?? Number.POSITIVE_INFINITY,
      count: (key) => {
        const held = table.get(key);
        if (held?.count(this.#now()) === "low") this.#askAhead(held, limit);
      },
      reserve: (key, events) => this.#reserve({ table, name }, key, limit, events),
      release: (key) => {
        const held = table.get(key);
        if (held !== undefined) this.#giveBack(held, limit, Number.POSITIVE_INFINITY);
      },
    };
  }

  /** Returns all events. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#held.keys()].map(({ asking }) => asking));
    await Promise.all(
      [...this.#held].map(([held, { limit }]) => {
        held.retire(this.#now(), Number.POSITIVE_INFINITY);
        return held.hasSettled ? this.#exchange.ask(held, limit, 0) : undefined;
      }),
    );
    await this.#store.close();
  }

  #reserve(
    place: Place,
    key: string,
    limit: CountedLimit,
    events: number,
  ): Promise<void> | undefined {
    const now = this.#now();
    const held = this.#open(place, key, limit, now);
    if (held === undefined) return undefined;
    held.usedAt = now;
    if (held.left(now) >= Math.min(events, Math.floor(limit.capacity))) return undefined;
    if (now < held.restUntil || this.#isClosed) return undefined;
    this.#figures.waits += 1;
    held.asking ??= this.#acquire(held, limit, events).finally(() => {
      held.asking = undefined;
    });
    return held.asking;
  }

  #open({ table, name }: Place, key: string, limit: CountedLimit, now: number) {
    const known = table.get(key);
    if (known !== undefined) return known;
    if (this.#held.size >= MAX_HELD) return undefined;
    const held = new HeldCount(sha256Hex(JSON.stringify([name, key])), now);
    table.set(key, held);
    this.#held.set(held, { table, name: key, limit });
    return held;
  }

  /** Requests events until there are enough, or no more can be expected. */
  async #acquire(held: HeldCount, limit: CountedLimit, events: number): Promise<void> {
    const since = this.#now();
    const patientUntil = since < held.impatientUntil ? since : since + PATIENCE_MS;
    for (;;) {
      const result = await this.#ask(held, limit, events);
      const now = this.#now();
      if (held.left(now) >= Math.min(events, Math.floor(limit.capacity))) return;
      if (result !== undefined && result.given > 0) continue;
      if (!this.#mayRetry(result, held.left(now), patientUntil)) {
        held.restUntil = now + (result === undefined ? REST_MS : restOf(limit));
        if (now >= since + PATIENCE_MS) held.impatientUntil = now + IMPATIENCE_MS;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_STEP_MS));
    }
  }

  /**
   * True when another request may soon succeed: the database was silent only briefly, or others may
   * return events.
   */
  #mayRetry(result: CountResult | undefined, left: number, patientUntil: number): boolean {
    const now = this.#now();
    if (this.#isClosed) return false;
    if (result === undefined) return !this.#isGivenUp(now);
    return left === 0 && result.elsewhere > 0 && now < patientUntil;
  }

  #ask(held: HeldCount, limit: CountedLimit, events: number): Promise<CountResult | undefined> {
    return this.#exchange.ask(held, limit, held.wish(limit, events, this.#now()));
  }

  #askAhead(held: HeldCount, limit: CountedLimit): void {
    if (this.#isClosed || this.#figures.isSilent || this.#now() < held.restUntil) return;
    held.asking ??= this.#ask(held, limit, 1)
      .then((result) => {
        if (result?.given === 0) held.restUntil = this.#now() + restOf(limit);
      })
      .finally(() => {
        held.asking = undefined;
      });
  }

  /**
   * Sends reports on leases. While the database is silent, only one count is reported at a time, as
   * a probe: each batch lasts until its timeout, and a run's request would wait behind it. The next
   * check sends the rest.
   */
  #giveBack(held: HeldCount, limit: CountedLimit, idleSince: number): void {
    held.retire(this.#now(), idleSince);
    if (!held.hasSettled || (this.#figures.isSilent && !this.#exchange.isIdle)) return;
    void this.#exchange.ask(held, limit, 0);
  }

  #look(): void {
    const now = this.#now();
    for (const [held, { table, name, limit }] of this.#held) {
      this.#giveBack(held, limit, now - IDLE_MS);
      if (!held.isEmpty(now)) continue;
      table.delete(name);
      this.#held.delete(held);
    }
    this.#checks += 1;
    if (this.#checks % SWEEP_CHECKS === 1) void this.#store.sweep().catch(() => undefined);
  }

  #heard(didAnswer: boolean): boolean {
    if (!didAnswer) this.#figures.failures += 1;
    if (this.#figures.isSilent === didAnswer) {
      this.#figures.isSilent = !didAnswer;
      this.#silentSince = didAnswer ? undefined : this.#now();
      this.#listener(!didAnswer);
    }
    return this.#isGivenUp(this.#now());
  }

  /** True when the database has been silent for longer than an event waits. */
  #isGivenUp(now: number): boolean {
    return now - (this.#silentSince ?? now) >= HICCUP_MS;
  }
}

/**
 * The pause for an exhausted count: a slice of its window, after which events may be available
 * again; at least 100 ms, because a busy process reads the response late.
 */
function restOf({ windowMs }: CountedLimit): number {
  return Math.min(REST_MS, Math.max(100, windowMs / 64));
}
