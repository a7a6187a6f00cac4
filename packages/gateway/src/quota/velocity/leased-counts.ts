import { sha256Hex } from "@countersign/core";
import type { SharedCounts, VelocityLimit } from "@countersign/policy";
import type { CountResult, CountedLimit } from "./count.js";
import { Exchange } from "./exchange.js";
import { HeldCount } from "./held-count.js";
import type { VelocityStore } from "./velocity-store.js";

/** Between two looks for what can be given back. */
const LOOK_MS = 250;
/** What nobody used for this long goes back. */
const IDLE_MS = 500;
/** How long an event waits for what other gateways may give back: they look four times a second. */
const PATIENCE_MS = 1000;
const PATIENCE_STEP_MS = 100;
/** How long nobody waits for that again when nothing came: at a cap that is reached runs must not stand still every second. */
const IMPATIENCE_MS = 10_000;
/** A database that is silent for longer is no longer waited for, nor by those whose question is still to be sent. */
const HICCUP_MS = 3000;
/** How long nothing is asked of a silent database, and at most of a count with nothing left. */
const REST_MS = 1000;
/** Looks between two times that empty counts are removed. */
const SWEEP_LOOKS = 240;
/** Counts in use at once. */
const MAX_HELD = 100_000;

/** Told when the store fails after it did not, and the other way round. */
export type VelocityListener = (isSilent: boolean) => void;

/** What operators are told. */
export type VelocityFigures = {
  /** Times that events waited for an answer. */
  waits: number;
  /** Questions without an answer. */
  failures: number;
  /** Whether the last one had none. */
  isSilent: boolean;
};

/** Options of {@link LeasedCounts}. */
export type LeasedCountsOptions = {
  readonly store: VelocityStore;
  /** The name of this gateway among those that count together. */
  readonly gateway: string;
  readonly listener?: VelocityListener;
  readonly figures?: VelocityFigures;
  /** A clock that never goes back, in milliseconds; that of the process when left out. */
  readonly now?: () => number;
};

type Place = { readonly table: Map<string, HeldCount>; readonly name: string };

/**
 * Counts that hold over all gateways: events are taken from the store in blocks before they are needed, so that a
 * decision never waits and no two gateways use the same one. Silence of the store leaves what is at hand for five
 * seconds, and then nothing.
 */
export class LeasedCounts {
  readonly #figures: VelocityFigures;
  readonly #store: VelocityStore;
  readonly #exchange: Exchange;
  readonly #listener: VelocityListener;
  readonly #now: () => number;
  /** By cap, then by key: a policy that is loaded again goes on with what is at hand. */
  readonly #tables = new Map<string, Map<string, HeldCount>>();
  readonly #held = new Map<HeldCount, Place & { readonly limit: CountedLimit }>();
  readonly #timer: NodeJS.Timeout;
  #looks = 0;
  #silentSince: number | undefined;
  #isClosed = false;

  constructor({ store, gateway, listener = () => {}, figures, now }: LeasedCountsOptions) {
    this.#store = store;
    this.#figures = figures ?? { waits: 0, failures: 0, isSilent: false };
    this.#listener = listener;
    this.#now = now ?? (() => performance.now());
    this.#exchange = new Exchange(store, gateway, (didAnswer) => this.#heard(didAnswer), this.#now);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** The counts of a cap; a connection is at one gateway, and counted there. */
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

  /** Gives everything back. */
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

  /** Asks until there is enough, or certainly nothing more. */
  async #acquire(held: HeldCount, limit: CountedLimit, events: number): Promise<void> {
    const since = this.#now();
    const patientUntil = since < held.impatientUntil ? since : since + PATIENCE_MS;
    for (;;) {
      const answer = await this.#ask(held, limit, events);
      const now = this.#now();
      if (held.left(now) >= Math.min(events, Math.floor(limit.capacity))) return;
      if (answer !== undefined && answer.given > 0) continue;
      if (!this.#mayHope(answer, held.left(now), patientUntil)) {
        held.restUntil = now + (answer === undefined ? REST_MS : restOf(limit));
        if (now >= since + PATIENCE_MS) held.impatientUntil = now + IMPATIENCE_MS;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_STEP_MS));
    }
  }

  /** Whether asking again soon may help: a database that hiccups, or others who may give something back. */
  #mayHope(answer: CountResult | undefined, left: number, patientUntil: number): boolean {
    const now = this.#now();
    if (this.#isClosed) return false;
    if (answer === undefined) return !this.#isGivenUp(now);
    return left === 0 && answer.elsewhere > 0 && now < patientUntil;
  }

  #ask(held: HeldCount, limit: CountedLimit, events: number): Promise<CountResult | undefined> {
    return this.#exchange.ask(held, limit, held.wish(limit, events, this.#now()));
  }

  #askAhead(held: HeldCount, limit: CountedLimit): void {
    if (this.#isClosed || this.#figures.isSilent || this.#now() < held.restUntil) return;
    held.asking ??= this.#ask(held, limit, 1)
      .then((answer) => {
        if (answer?.given === 0) held.restUntil = this.#now() + restOf(limit);
      })
      .finally(() => {
        held.asking = undefined;
      });
  }

  /**
   * Says what became of leases. Of a silent database only one count is told at a time, to hear when it is back: each batch
   * takes until nobody waits for it any more, and somebody's run would wait behind it. The next look says the rest.
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
    this.#looks += 1;
    if (this.#looks % SWEEP_LOOKS === 1) void this.#store.sweep().catch(() => undefined);
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

  /** Whether the database is silent for longer than anybody waits. */
  #isGivenUp(now: number): boolean {
    return now - (this.#silentSince ?? now) >= HICCUP_MS;
  }
}

/** A count with nothing left has something again when a slice of its window has gone; a busy process needs a moment to hear no. */
function restOf({ windowMs }: CountedLimit): number {
  return Math.min(REST_MS, Math.max(100, windowMs / 64));
}
