import type {
  CountKind,
  CountResult,
  CountStore,
  CountedLimit,
  LeaseTerms,
} from "./count-store.js";
import { Exchange } from "./count-exchange.js";
import { ReservedCount } from "./reserved-count.js";

/** Time between two checks for events to return. */
const CHECK_MS = 250;
/** Time between two requests while an event waits for what other gateways may return. */
const PATIENCE_STEP_MS = 100;
/** How long no event waits again after a useless wait: at an exhausted limit, runs must not stall every second. */
const NO_WAIT_MS = 10_000;
/** Pause after a failed response, and the maximum pause for an exhausted count. */
const PAUSE_MS = 1000;
/** Checks between two removals of old counts. */
const SWEEP_CHECKS = 240;
/** Maximum number of counts in use. */
const MAX_RESERVED = 100_000;

/** Called when the store fails after a success, and when it succeeds after a failure. */
export type SilenceListener = (isSilent: boolean) => void;

/** Metrics of the shared counts. */
export type LeaseFigures = {
  /** Times that events waited for a response. */
  waits: number;
  /** Requests without a response. */
  failures: number;
  /** True when the last request had no response. */
  isSilent: boolean;
};

/** Options of {@link LeasedCounts}. */
export type LeasedCountsOptions = {
  readonly store: CountStore;
  /** The name of this gateway among those that share the counts. */
  readonly gateway: string;
  readonly listener?: SilenceListener;
  readonly figures?: LeaseFigures;
  /** A monotonic clock in milliseconds; the process's by default. */
  readonly now?: () => number;
};

/** Counts by key, and the keys that the store knows them by. */
export type CountTable = {
  readonly reserved: Map<string, ReservedCount>;
  storeKey(key: string): string;
};

type Place = { readonly table: CountTable; readonly key: string; limit: CountedLimit };

/**
 * Counts that hold over all gateways, for velocity caps and for the budgets of tokens. Events are reserved from the
 * store in blocks before they are needed, so that a decision never waits and no two gateways use the same event. While
 * the store is silent, reserved events can be used until their lease ends.
 */
export class LeasedCounts {
  readonly now: () => number;
  readonly #terms: LeaseTerms;
  readonly #figures: LeaseFigures;
  readonly #store: CountStore;
  readonly #exchange: Exchange;
  readonly #listener: SilenceListener;
  readonly #reserved = new Map<ReservedCount, Place>();
  readonly #timer: NodeJS.Timeout;
  #checks = 0;
  #silentSince: number | undefined;
  #isClosed = false;

  constructor(
    { terms }: Pick<CountKind, "terms">,
    { store, gateway, listener = () => {}, figures, now }: LeasedCountsOptions,
  ) {
    this.#terms = terms;
    this.#store = store;
    this.#figures = figures ?? { waits: 0, failures: 0, isSilent: false };
    this.#listener = listener;
    this.now = now ?? (() => performance.now());
    this.#exchange = new Exchange(
      store,
      gateway,
      (didAnswer) => this.#onResponse(didAnswer),
      this.now,
    );
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  /**
   * Reserves that many events, as far as they are available. Returns a promise, which always resolves, when it asks the
   * store. With `patienceMs` it waits that long for events that other gateways may return.
   */
  reserve(
    table: CountTable,
    key: string,
    limit: CountedLimit,
    events: number,
    patienceMs = 0,
  ): Promise<void> | undefined {
    const now = this.now();
    const reserved = this.#open(table, key, limit, now);
    if (reserved === undefined) return undefined;
    reserved.usedAt = now;
    if (reserved.left(now) >= Math.min(events, Math.floor(limit.capacity))) return undefined;
    const isAskedAnew = patienceMs > 0 && !this.#figures.isSilent;
    if (reserved.isOver || this.#isClosed || (now < reserved.pauseUntil && !isAskedAnew))
      return undefined;
    this.#figures.waits += 1;
    // A wait that others began is not extended: their events would never be decided.
    if (reserved.waitUntil <= now) reserved.waitUntil = now + patienceMs;
    reserved.asking ??= this.#acquire(reserved, limit, events).finally(() => {
      reserved.asking = undefined;
    });
    return reserved.asking;
  }

  /** Uses one event, if one is left. */
  count(reserved: ReservedCount): void {
    if (reserved.count(this.now()) === "low") this.#askAhead(reserved);
  }

  /** Returns the unused events of a count. */
  release(reserved: ReservedCount): void {
    const limit = this.#reserved.get(reserved)?.limit;
    if (limit !== undefined) this.#returnUnused(reserved, limit, Number.POSITIVE_INFINITY);
  }

  /** Returns all events. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#reserved.keys()].map(({ asking }) => asking));
    await Promise.all(
      [...this.#reserved].map(([reserved, { limit }]) => {
        reserved.retire(this.now(), Number.POSITIVE_INFINITY);
        return reserved.hasSettled ? this.#exchange.ask(reserved, limit, 0) : undefined;
      }),
    );
    await this.#store.close();
  }

  #open(
    table: CountTable,
    key: string,
    limit: CountedLimit,
    now: number,
  ): ReservedCount | undefined {
    const known = table.reserved.get(key);
    if (known !== undefined) {
      const place = this.#reserved.get(known);
      if (place !== undefined) place.limit = limit;
      return known;
    }
    if (this.#reserved.size >= MAX_RESERVED) return undefined;
    const reserved = new ReservedCount(table.storeKey(key), now, this.#terms);
    table.reserved.set(key, reserved);
    this.#reserved.set(reserved, { table, key, limit });
    return reserved;
  }

  /** Requests events until there are enough, or no more can be expected. */
  async #acquire(reserved: ReservedCount, limit: CountedLimit, events: number): Promise<void> {
    const { patienceMs } = this.#terms;
    const since = this.now();
    const waitUntil = since < reserved.noWaitUntil ? since : since + patienceMs;
    for (;;) {
      const result = await this.#ask(reserved, limit, events);
      const now = this.now();
      const left = reserved.left(now);
      if (left >= Math.min(events, Math.floor(limit.capacity))) return;
      if (result !== undefined && result.given > 0) continue;
      const until = Math.max(waitUntil, reserved.waitUntil);
      if (!this.#mayRetry(result, left, until)) {
        reserved.isOver = limit.kind === "total" && left === 0 && result?.elsewhere === 0;
        const pauseMs = result === undefined ? PAUSE_MS : pauseOf(limit);
        reserved.pauseUntil = now + (reserved.isOver ? this.#terms.idleMs : pauseMs);
        if (patienceMs > 0 && now >= since + patienceMs) reserved.noWaitUntil = now + NO_WAIT_MS;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_STEP_MS));
    }
  }

  /** True when another request may soon succeed: the store was silent only briefly, or others may return events. */
  #mayRetry(result: CountResult | undefined, left: number, waitUntil: number): boolean {
    const now = this.now();
    if (this.#isClosed) return false;
    if (result === undefined) return !this.#isGivenUp(now);
    return left === 0 && result.elsewhere > 0 && now < waitUntil;
  }

  #ask(
    reserved: ReservedCount,
    limit: CountedLimit,
    events: number,
  ): Promise<CountResult | undefined> {
    return this.#exchange.ask(reserved, limit, reserved.blockSize(limit, events, this.now()));
  }

  #askAhead(reserved: ReservedCount): void {
    const limit = this.#reserved.get(reserved)?.limit;
    if (limit === undefined || this.#isClosed) return;
    if (this.#figures.isSilent || this.now() < reserved.pauseUntil) return;
    reserved.asking ??= this.#ask(reserved, limit, 1)
      .then((result) => {
        if (result?.given === 0) reserved.pauseUntil = this.now() + pauseOf(limit);
      })
      .finally(() => {
        reserved.asking = undefined;
      });
  }

  /**
   * Sends reports on leases. While the store is silent, only one count at a time, as a probe: a run's request would
   * wait behind each batch until its timeout.
   */
  #returnUnused(reserved: ReservedCount, limit: CountedLimit, idleSince: number): void {
    reserved.retire(this.now(), idleSince);
    if (!reserved.hasSettled || (this.#figures.isSilent && !this.#exchange.isIdle)) return;
    void this.#exchange.ask(reserved, limit, 0);
  }

  #check(): void {
    const now = this.now();
    for (const [reserved, { table, key, limit }] of this.#reserved) {
      this.#returnUnused(reserved, limit, now - this.#terms.idleMs);
      if (!reserved.isEmpty(now)) continue;
      table.reserved.delete(key);
      this.#reserved.delete(reserved);
    }
    this.#checks += 1;
    if (this.#checks % SWEEP_CHECKS === 1) void this.#store.sweep().catch(() => undefined);
  }

  #onResponse(didAnswer: boolean): boolean {
    if (!didAnswer) this.#figures.failures += 1;
    if (this.#figures.isSilent === didAnswer) {
      this.#figures.isSilent = !didAnswer;
      this.#silentSince = didAnswer ? undefined : this.now();
      this.#listener(!didAnswer);
    }
    return this.#isGivenUp(this.now());
  }

  /** True when the store has been silent for longer than an event waits. */
  #isGivenUp(now: number): boolean {
    return this.#silentSince !== undefined && now - this.#silentSince >= this.#terms.silenceMs;
  }
}

/**
 * The pause for an exhausted count: a slice of its window; at least 100 ms, because a busy process reads the response
 * late.
 */
function pauseOf({ windowMs }: CountedLimit): number {
  return Math.min(PAUSE_MS, Math.max(100, windowMs / 64));
}
