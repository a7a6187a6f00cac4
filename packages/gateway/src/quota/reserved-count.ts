import type { CountResult, CountedLimit, LeaseTerms, SettledLease } from "./count-store.js";

/** Events of one key under one limit that this gateway was granted. */
type OwnLease = {
  readonly id: string;
  readonly usableUntil: number;
  left: number;
  used: number;
  usedAt: number;
};

/** The fraction of the remaining events in one request, so that other gateways find some too. */
const SHARE = 8;
/** Blocks of at least this size are renewed before the last one is exhausted. */
const AHEAD_FROM = 16;
/**
 * How long a report is repeated, in milliseconds. Events not returned by then are lost: fewer are allowed than the
 * limit, never more.
 */
const REPORT_MS = 10_000;

/** One gateway's reserved events of one count. All times are of a monotonic clock. */
export class ReservedCount {
  /** The key of the count over all gateways. */
  readonly key: string;
  #leases: OwnLease[] = [];
  /** Reports on leases, until the store has received them. */
  #settled: (Omit<SettledLease, "ageMs"> & { usedAt: number; until: number })[] = [];
  readonly #terms: LeaseTerms;
  /** Events used or granted over all gateways, as of the last response; `undefined` before the first. */
  #usedEverywhere: number | undefined;
  #block = 0;
  /** The last time an event was counted or requested. */
  usedAt: number;
  /** No request is sent before this time, after an empty or a failed response. */
  pauseUntil = 0;
  /** Before this time no request waits for events that others may return, because the last wait was useless. */
  noWaitUntil = 0;
  /** Before this time a request waits for such events, however useless the last wait was. */
  waitUntil = 0;
  /** True when the last request got a response. */
  isKnown = false;
  /** True when all events of a total were used, so that none can be returned. */
  isOver = false;
  /** The pending request for more events. */
  asking: Promise<void> | undefined;

  constructor(key: string, now: number, terms: LeaseTerms) {
    this.key = key;
    this.usedAt = now;
    this.#terms = terms;
  }

  /** The events that may still be used. */
  left(now: number): number {
    let left = 0;
    for (const lease of this.#leases) if (now < lease.usableUntil) left += lease.left;
    return left;
  }

  /** Events used so far over all gateways, to compare with a limit. */
  used({ capacity }: Pick<CountedLimit, "capacity">, now: number): number {
    const left = this.left(now);
    if (left > 0) return Math.max(0, (this.#usedEverywhere ?? 0) - left);
    return this.isKnown ? Math.max(capacity, this.#usedEverywhere ?? 0) : Number.POSITIVE_INFINITY;
  }

  /** Uses one event. Returns whether there was one, and whether to request more. */
  count(now: number): "nothing" | "enough" | "low" {
    const lease = this.#leases.find(({ left, usableUntil }) => left > 0 && now < usableUntil);
    if (lease === undefined) return "nothing";
    lease.left -= 1;
    lease.used += 1;
    lease.usedAt = now;
    this.usedAt = now;
    return this.#block >= AHEAD_FROM && this.left(now) * 2 <= this.#block ? "low" : "enough";
  }

  /** The number of events to request when that many are needed. */
  blockSize({ capacity }: CountedLimit, events: number, now: number): number {
    const share = Math.ceil(Math.max(0, capacity - (this.#usedEverywhere ?? 0)) / SHARE);
    return Math.max(1, Math.min(this.#terms.maxBlock, share), events - this.left(now));
  }

  /** Stores a granted lease that was requested at this time. */
  take(id: string, { given, used }: CountResult, askedAt: number): void {
    this.isKnown = true;
    this.#usedEverywhere = used;
    if (given === 0) return;
    this.pauseUntil = 0;
    this.#block = given;
    this.#leases.push({
      id,
      usableUntil: askedAt + this.#terms.leaseMs,
      left: given,
      used: 0,
      usedAt: askedAt,
    });
  }

  /** Reports a lease without use, because the store may have granted it without a response. */
  disown(id: string, now: number): void {
    this.isKnown = false;
    this.#settled.push({ id, used: 0, usedAt: now, until: now + REPORT_MS });
  }

  /** Ends leases that are exhausted or expired; all of them when none was used since `idleSince`. */
  retire(now: number, idleSince: number): void {
    const isIdle = this.usedAt <= idleSince;
    const isOver = ({ left, usableUntil }: OwnLease): boolean =>
      isIdle || left === 0 || now >= usableUntil;
    for (const { id, used, usedAt } of this.#leases.filter(isOver)) {
      this.#settled.push({ id, used, usedAt, until: now + REPORT_MS });
    }
    this.#leases = this.#leases.filter((lease) => !isOver(lease));
    this.#settled = this.#settled.filter(({ until }) => now < until);
  }

  /** Reports on ended leases. */
  settled(now: number): SettledLease[] {
    return this.#settled.map(({ id, used, usedAt }) => ({ id, used, ageMs: now - usedAt }));
  }

  /** Removes reports that the store has received. */
  forget(settled: readonly SettledLease[]): void {
    const received = new Set(settled.map(({ id }) => id));
    this.#settled = this.#settled.filter(({ id }) => !received.has(id));
  }

  /** True when there is nothing to use, report or wait for. */
  isEmpty(now: number): boolean {
    return (
      this.#leases.length + this.#settled.length === 0 &&
      this.asking === undefined &&
      now >= this.pauseUntil &&
      now >= this.noWaitUntil
    );
  }

  get hasSettled(): boolean {
    return this.#settled.length > 0;
  }
}
