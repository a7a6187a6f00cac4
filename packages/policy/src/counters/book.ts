import type { EventFacts } from "../classify/facts.js";
import type { PolicyCounterLimits } from "../compile/compile.js";
import { matchesAny } from "../compile/event-match.js";
import type { CounterFacts } from "../compile/facts.js";
import type { VelocityLimit, VelocityScope } from "../compile/velocity-rules.js";
import { createVelocityCounter } from "./counter.js";
import type { VelocityCounter, VelocitySnapshot } from "./counter.js";

/** The counts of one cap that other processes count too, by key. Only `reserve` waits. */
export type SharedCounts = {
  /**
   * Events used so far by all processes; at least the cap when none is left, infinite when unknown.
   */
  used(key: string): number;
  /** Counts one event that `used` left room for. */
  count(key: string): void;
  /** Reserves this many events, as far as there are; a promise if another process must be asked. */
  reserve(key: string, events: number): Promise<void> | undefined;
  /** Releases the reservation of this key. */
  release(key: string): void;
};

/**
 * The keys whose events are counted together. A missing key counts under one shared key: stricter,
 * never laxer.
 */
export type CounterKeys = { readonly [Scope in VelocityScope]?: string | undefined };

/** The state of a book, as plain JSON. */
export type CounterBookSnapshot = {
  readonly [ruleId: string]: { readonly [key: string]: VelocitySnapshot };
};

/** Counts for one policy, for many sessions and agents. */
export type CounterBook = {
  /**
   * The numbers for the event to evaluate; valid until the next call. Nothing is counted yet except
   * the second: `isEvent: false` skips that too, for further parts of the same event.
   */
  peek(event: EventFacts, keys: CounterKeys, now: number, isEvent?: boolean): CounterFacts;
  /** Counts a delivered event. Blocked events use up nothing. */
  commit(event: EventFacts, keys: CounterKeys, now: number): void;
  /**
   * Reserves the counts of this many events like this one, as far as the caps allow. Returns a
   * promise, which always resolves, if another process must be asked. Without an event, for events
   * of any kind.
   */
  reserve(
    event: EventFacts | undefined,
    keys: CounterKeys,
    events: number,
  ): Promise<void> | undefined;
  /** Releases the reservations of these keys. */
  release(keys: CounterKeys): void;
  /** Whether some caps are counted elsewhere; otherwise there is never anything to reserve. */
  readonly isShared: boolean;
  /** The counts of this book; shared counts are not included. */
  toJSON(): CounterBookSnapshot;
};

/** Options of {@link createCounterBook}. */
export type CounterBookOptions = {
  /** Maximum number of keys per rule; then new keys are refused until old ones are idle. */
  readonly maxKeys?: number;
  readonly snapshot?: CounterBookSnapshot;
  /** The shared counts of a cap; `undefined` counts it in this book alone. */
  readonly shared?: (limit: VelocityLimit) => SharedCounts | undefined;
};

type Entry = {
  readonly limit: VelocityLimit;
  readonly counters: Map<string, VelocityCounter>;
  readonly shared: SharedCounts | undefined;
};

const SHARED_KEY = "";

/**
 * A book of counters; the caller passes the time. `eventsInSecond` is per connection, and every
 * evaluated event counts towards it, so that a flood of blocked events is a flood too.
 */
export function createCounterBook(
  limits: PolicyCounterLimits,
  options: CounterBookOptions = {},
): CounterBook {
  const maxKeys = options.maxKeys ?? 100_000;
  const entries: Entry[] = limits.velocity.map((limit) => ({
    limit,
    counters: restore(limit, options.snapshot?.[limit.id]),
    shared: options.shared?.(limit),
  }));
  const elsewhere = entries.filter(({ shared }) => shared !== undefined);
  const seconds = new Map<string, { second: number; count: number }>();
  const velocity = new Float64Array(limits.velocity.length);
  const facts = { eventsInSecond: 0, velocity };

  return {
    peek(event, keys, now, isEvent = true) {
      facts.eventsInSecond = isEvent
        ? countSecond(seconds, keys.connection ?? SHARED_KEY, now, maxKeys)
        : (seconds.get(keys.connection ?? SHARED_KEY)?.count ?? 0);
      entries.forEach(({ limit, counters, shared }, index) => {
        if (!matchesAny(limit.match, event)) {
          velocity[index] = 0;
          return;
        }
        const key = keys[limit.scope] ?? SHARED_KEY;
        if (shared !== undefined) {
          velocity[index] = shared.used(key) + 1;
          return;
        }
        const counter = counters.get(key);
        const room = counter !== undefined || hasRoom(counters, now, maxKeys);
        velocity[index] = room ? (counter?.used(now) ?? 0) + 1 : Number.POSITIVE_INFINITY;
      });
      return facts;
    },
    commit(event, keys, now) {
      for (const { limit, counters, shared } of entries) {
        if (!matchesAny(limit.match, event)) continue;
        const key = keys[limit.scope] ?? SHARED_KEY;
        if (shared !== undefined) {
          shared.count(key);
          continue;
        }
        let counter = counters.get(key);
        if (counter === undefined) {
          counter = createVelocityCounter(limit);
          counters.set(key, counter);
        }
        counter.add(now);
      }
    },
    isShared: elsewhere.length > 0,
    reserve(event, keys, events) {
      let waits: Promise<void>[] | undefined;
      for (const { limit, shared } of elsewhere) {
        if (event !== undefined && !matchesAny(limit.match, event)) continue;
        const wait = shared?.reserve(keys[limit.scope] ?? SHARED_KEY, events);
        if (wait !== undefined) (waits ??= []).push(wait);
      }
      return waits === undefined ? undefined : Promise.all(waits).then(() => undefined);
    },
    release(keys) {
      for (const { limit, shared } of elsewhere) {
        const key = keys[limit.scope];
        if (key !== undefined) shared?.release(key);
      }
    },
    toJSON() {
      const snapshot: { [rule: string]: { [key: string]: VelocitySnapshot } } = Object.create(null);
      for (const { limit, counters, shared } of entries) {
        if (shared !== undefined) continue;
        const byKey: { [key: string]: VelocitySnapshot } = Object.create(null);
        for (const [key, counter] of counters) byKey[key] = counter.toJSON();
        snapshot[limit.id] = byKey;
      }
      return snapshot;
    },
  };
}

function restore(
  limit: VelocityLimit,
  snapshot: CounterBookSnapshot[string] | undefined,
): Map<string, VelocityCounter> {
  const counters = new Map<string, VelocityCounter>();
  for (const [key, state] of Object.entries(snapshot ?? {})) {
    counters.set(key, createVelocityCounter(limit, state));
  }
  return counters;
}

// An attacker who opens session after session must not evict a busy counter.
function hasRoom(counters: Map<string, VelocityCounter>, now: number, maxKeys: number): boolean {
  if (counters.size < maxKeys) return true;
  for (const [key, counter] of counters) {
    if (counter.isIdle(now)) counters.delete(key);
  }
  return counters.size < maxKeys;
}

/** Checks two keys for each new one, so that closed connections do not accumulate. */
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
