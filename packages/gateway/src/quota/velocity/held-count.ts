import { LEASE_MS } from "./count.js";
import type { CountResult, CountedLimit, SettledLease } from "./count.js";

/** Events of one key under one cap that this gateway was given. */
type HeldLease = {
  readonly id: string;
  readonly usableUntil: number;
  left: number;
  used: number;
  usedAt: number;
};

/** The most that is asked for at once; what is lost with a process is at most this, of each count in use. */
const MAX_BLOCK = 1024;
/** The part of what is left that is asked for at once, so that others find something too. */
const SHARE = 8;
/** From this size on the next block is asked for before the last one is used up. */
const AHEAD_FROM = 16;

/** What one gateway has at hand of one count, by a clock that never goes back. */
export class HeldCount {
  /** The name of the count over all gateways. */
  readonly key: string;
  #leases: HeldLease[] = [];
  /** What became of leases, until it has arrived. */
  #settled: (Omit<SettledLease, "ageMs"> & { usedAt: number; until: number })[] = [];
  /** Events used up over all gateways, and given out, when it was last heard; `undefined` when it never was. */
  #heard: number | undefined;
  #block = 0;
  /** When an event was counted or asked for last. */
  usedAt: number;
  /** Nothing is asked before this time: there was nothing, or no answer. */
  restUntil = 0;
  /** Nobody waits for what others may give back before this time: it was waited for in vain. */
  impatientUntil = 0;
  /** Whether the last question had an answer. */
  isKnown = false;
  /** Somebody waits for more. */
  asking: Promise<void> | undefined;

  constructor(key: string, now: number) {
    this.key = key;
    this.usedAt = now;
  }

  /** What may still be used. */
  left(now: number): number {
    let left = 0;
    for (const lease of this.#leases) if (now < lease.usableUntil) left += lease.left;
    return left;
  }

  /** Events used up so far over all gateways, for a cap. */
  used({ capacity }: CountedLimit, now: number): number {
    const left = this.left(now);
    if (left > 0) return Math.max(0, (this.#heard ?? 0) - left);
    return this.isKnown ? Math.max(capacity, this.#heard ?? 0) : Number.POSITIVE_INFINITY;
  }

  /** Uses one; whether there was one, and whether it is time to ask for more. */
  count(now: number): "nothing" | "enough" | "low" {
    const lease = this.#leases.find(({ left, usableUntil }) => left > 0 && now < usableUntil);
    if (lease === undefined) return "nothing";
    lease.left -= 1;
    lease.used += 1;
    lease.usedAt = now;
    this.usedAt = now;
    return this.#block >= AHEAD_FROM && this.left(now) * 2 <= this.#block ? "low" : "enough";
  }

  /** How many to ask for when so many are needed. */
  wish({ capacity }: CountedLimit, events: number, now: number): number {
    const share = Math.ceil(Math.max(0, capacity - (this.#heard ?? 0)) / SHARE);
    return Math.max(1, Math.min(MAX_BLOCK, share), events - this.left(now));
  }

  /** A lease that was asked for at this time was given. */
  take(id: string, { given, used }: CountResult, askedAt: number): void {
    this.isKnown = true;
    this.#heard = used;
    if (given === 0) return;
    this.#block = given;
    this.#leases.push({
      id,
      usableUntil: askedAt + LEASE_MS,
      left: given,
      used: 0,
      usedAt: askedAt,
    });
  }

  /** Nobody knows whether a lease was given: if it was, nothing of it is used. */
  disown(id: string, now: number): void {
    this.isKnown = false;
    this.#settled.push({ id, used: 0, usedAt: now, until: now + LEASE_MS });
  }

  /** Gives up leases that are used up or over; all of them where nobody has used any since `idleSince`. */
  retire(now: number, idleSince: number): void {
    const isIdle = this.usedAt <= idleSince;
    const isOver = ({ left, usableUntil }: HeldLease): boolean =>
      isIdle || left === 0 || now >= usableUntil;
    for (const { id, used, usedAt, usableUntil } of this.#leases.filter(isOver)) {
      this.#settled.push({ id, used, usedAt, until: usableUntil });
    }
    this.#leases = this.#leases.filter((lease) => !isOver(lease));
    // By then it counts as used wherever it is counted, whatever is said about it.
    this.#settled = this.#settled.filter(({ until }) => now < until + LEASE_MS);
  }

  /** What is to be said of leases that were given up. */
  settled(now: number): SettledLease[] {
    return this.#settled.map(({ id, used, usedAt }) => ({ id, used, ageMs: now - usedAt }));
  }

  /** This has arrived. */
  forget(settled: readonly SettledLease[]): void {
    const told = new Set(settled.map(({ id }) => id));
    this.#settled = this.#settled.filter(({ id }) => !told.has(id));
  }

  /** Whether there is nothing to be used, said or waited for. */
  isEmpty(now: number): boolean {
    return (
      this.#leases.length + this.#settled.length === 0 &&
      this.asking === undefined &&
      now >= this.restUntil &&
      now >= this.impatientUntil
    );
  }

  get hasSettled(): boolean {
    return this.#settled.length > 0;
  }
}
