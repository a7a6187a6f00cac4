import type { EventFacts } from "../classify/facts.js";
import type { PolicyCounterLimits } from "../compile/compile.js";
import { matchesAny } from "../compile/event-match.js";
import type { CounterFacts } from "../compile/facts.js";
import type { VelocityLimit, VelocityScope } from "../compile/velocity-rules.js";
import type { BucketCounter, BucketSnapshot } from "./bucket.js";
import { createBucketCounter } from "./bucket.js";
import type { WindowCounter, WindowSnapshot } from "./window.js";
import { createWindowCounter } from "./window.js";

/** Whose events are counted together. A missing key counts under one shared key: stricter, never laxer. */
export type CounterKeys = { readonly [Scope in VelocityScope]?: string | undefined };

/** Everything a book remembers, as plain JSON. */
export type CounterBookSnapshot = {
  readonly [ruleId: string]: { readonly [key: string]: WindowSnapshot | BucketSnapshot };
};

/** Counts for one policy, for many sessions and agents. */
export type CounterBook = {
  /**
   * The numbers for an event about to be judged; valid until the next call. Nothing is counted yet, but
   * the second: `isEvent: false` leaves that out too, for the parts of an event already looked at.
   */
  peek(event: EventFacts, keys: CounterKeys, now: number, isEvent?: boolean): CounterFacts;
  /** Counts an event that was delivered. Blocked events use up nothing. */
  commit(event: EventFacts, keys: CounterKeys, now: number): void;
  toJSON(): CounterBookSnapshot;
};

/** Options of a book. */
export type CounterBookOptions = {
  /** Keys one rule may have at a time; beyond it new keys are refused until old ones fall idle. */
  readonly maxKeys?: number;
  readonly snapshot?: CounterBookSnapshot;
};

type Counter = WindowCounter | BucketCounter;
type Entry = { readonly limit: VelocityLimit; readonly counters: Map<string, Counter> };

const SHARED_KEY = "";

/**
 * A book of counters with the clock handed in. `eventsInSecond` is per connection, every event counts
 * towards it when it is looked at, so that a flood of blocked events is a flood too.
 */
export function createCounterBook(
  limits: PolicyCounterLimits,
  options: CounterBookOptions = {},
): CounterBook {
  const maxKeys = options.maxKeys ?? 100_000;
  const entries: Entry[] = limits.velocity.map((limit) => ({
    limit,
    counters: restore(limit, options.snapshot?.[limit.id]),
  }));
  const seconds = new Map<string, { second: number; count: number }>();
  const velocity = new Float64Array(limits.velocity.length);
  const facts = { eventsInSecond: 0, velocity };

  return {
    peek(event, keys, now, isEvent = true) {
      facts.eventsInSecond = isEvent
        ? countSecond(seconds, keys.connection ?? SHARED_KEY, now, maxKeys)
        : (seconds.get(keys.connection ?? SHARED_KEY)?.count ?? 0);
      entries.forEach(({ limit, counters }, index) => {
        if (!matchesAny(limit.match, event)) {
          velocity[index] = 0;
          return;
        }
        const counter = counters.get(keys[limit.scope] ?? SHARED_KEY);
        const room = counter !== undefined || hasRoom(counters, now, maxKeys);
        velocity[index] = room ? (counter?.used(now) ?? 0) + 1 : Number.POSITIVE_INFINITY;
      });
      return facts;
    },
    commit(event, keys, now) {
      for (const { limit, counters } of entries) {
        if (!matchesAny(limit.match, event)) continue;
        const key = keys[limit.scope] ?? SHARED_KEY;
        let counter = counters.get(key);
        if (counter === undefined) {
          counter = createCounter(limit);
          counters.set(key, counter);
        }
        counter.add(now);
      }
    },
    toJSON() {
      const snapshot: { [rule: string]: { [key: string]: WindowSnapshot | BucketSnapshot } } =
        Object.create(null);
      for (const { limit, counters } of entries) {
        const byKey: { [key: string]: WindowSnapshot | BucketSnapshot } = Object.create(null);
        for (const [key, counter] of counters) byKey[key] = counter.toJSON();
        snapshot[limit.id] = byKey;
      }
      return snapshot;
    },
  };
}

function createCounter(limit: VelocityLimit, snapshot?: WindowSnapshot | BucketSnapshot): Counter {
  if (limit.kind === "bucket") {
    return createBucketCounter(
      limit.max,
      limit.windowMs,
      snapshot !== undefined && "debt" in snapshot ? snapshot : undefined,
    );
  }
  return createWindowCounter(
    limit.windowMs,
    snapshot !== undefined && "counts" in snapshot ? snapshot : undefined,
  );
}

function restore(
  limit: VelocityLimit,
  snapshot: CounterBookSnapshot[string] | undefined,
): Map<string, Counter> {
  const counters = new Map<string, Counter>();
  for (const [key, state] of Object.entries(snapshot ?? {})) {
    counters.set(key, createCounter(limit, state));
  }
  return counters;
}

// An attacker who opens session after session must not be able to push a busy counter out.
function hasRoom(counters: Map<string, Counter>, now: number, maxKeys: number): boolean {
  if (counters.size < maxKeys) return true;
  for (const [key, counter] of counters) {
    if (counter.isIdle(now)) counters.delete(key);
  }
  return counters.size < maxKeys;
}

/** Looks at two keys for each new one, so that connections long gone do not add up. */
function forgetStale(seconds: Map<string, { second: number; count: number }>, now: number): void {
  for (let look = 0; look < 2; look += 1) {
    const [first] = seconds;
    if (first === undefined) return;
    const [key, slot] = first;
    seconds.delete(key);
    if (slot.second >= now) seconds.set(key, slot);
  }
}

function countSecond(
  seconds: Map<string, { second: number; count: number }>,
  key: string,
  now: number,
  maxKeys: number,
): number {
  const second = Math.floor(now / 1000);
  let slot = seconds.get(key);
  if (slot === undefined) {
    forgetStale(seconds, second);
    if (seconds.size >= maxKeys) {
      for (const [other, entry] of seconds) if (entry.second < second) seconds.delete(other);
      if (seconds.size >= maxKeys) return Number.POSITIVE_INFINITY;
    }
    slot = { second, count: 0 };
    seconds.set(key, slot);
  }
  if (second > slot.second) {
    slot.second = second;
    slot.count = 0;
  }
  slot.count += 1;
  return slot.count;
}
