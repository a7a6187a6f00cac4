import * as fc from "fast-check";
import { expect, test } from "vitest";
import { eventOf, policyOf } from "../testing/judge.js";
import { createBucketCounter } from "./bucket.js";
import { createCounterBook } from "./book.js";
import { createWindowCounter } from "./window.js";

test("no window of the given length ever holds more than its cap", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 64, max: 10_000 }),
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 2000 }), { maxLength: 100 }),
      (windowMs, max, gaps) => {
        const counter = createWindowCounter(windowMs);
        const admitted: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          if (counter.used(now) < max) {
            counter.add(now);
            admitted.push(now);
          }
        }
        for (const start of admitted) {
          const inside = admitted.filter((at) => at >= start && at < start + windowMs).length;
          expect(inside).toBeLessThanOrEqual(max);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test("a window forgets what has left it", () => {
  const counter = createWindowCounter(1000);
  for (let index = 0; index < 5; index += 1) counter.add(0);
  expect(counter.used(999)).toBe(5);
  expect(counter.used(1100)).toBe(0);
  expect(counter.isIdle(1100)).toBe(true);
});

test("time that runs backwards opens no window", () => {
  const counter = createWindowCounter(1000);
  counter.add(50_000);
  expect(counter.used(10)).toBe(1);
});

test("a bucket lets a burst through and then the rate", () => {
  const bucket = createBucketCounter(10, 1000);
  for (let index = 0; index < 20; index += 1) bucket.add(0);
  expect(bucket.used(0)).toBe(20);
  expect(bucket.used(500)).toBe(15);
  expect(bucket.used(5000)).toBe(0);
});

const POLICY =
  "ag_ui: {}\nvelocity:\n  - { id: a, match: { event_type: notification }, max_invocations: 2, window_seconds: 10 }\n  - { id: b, max_requests_per_agent: 5, window_secs: 10 }\n";

test("a book goes on where its snapshot stopped", () => {
  const { limits } = policyOf(POLICY);
  const event = eventOf("notification alert toast");
  const keys = { session: "s", agent: "a", connection: "c" };
  const first = createCounterBook(limits);
  first.commit(event, keys, 1000);
  const snapshot = JSON.parse(JSON.stringify(first));
  const second = createCounterBook(limits, { snapshot });
  expect(Array.from(second.peek(event, keys, 1000).velocity)).toEqual([2, 2]);
  expect(Array.from(second.peek(eventOf("error display"), keys, 1000).velocity)).toEqual([0, 2]);
});

test("every look counts towards the second of its connection", () => {
  const book = createCounterBook(policyOf("ag_ui: {}\n").limits);
  const event = eventOf("error display");
  expect(book.peek(event, { connection: "a" }, 1000).eventsInSecond).toBe(1);
  expect(book.peek(event, { connection: "a" }, 1999).eventsInSecond).toBe(2);
  expect(book.peek(event, { connection: "b" }, 1999).eventsInSecond).toBe(1);
  expect(book.peek(event, { connection: "a" }, 2000).eventsInSecond).toBe(1);
});

test("a full book refuses new keys until old ones fall idle", () => {
  const book = createCounterBook(policyOf(POLICY).limits, { maxKeys: 2 });
  const event = eventOf("notification alert toast");
  const used = (session: string, now: number): number =>
    book.peek(event, { session, agent: "a", connection: "c" }, now).velocity[0] ?? 0;
  for (const session of ["x", "y"]) book.commit(event, { session, agent: "a" }, 0);
  expect(used("x", 0)).toBe(2);
  expect(used("z", 0)).toBe(Number.POSITIVE_INFINITY);
  expect(used("z", 20_000)).toBe(1);
});

test("a further part of the same event is not counted towards the second again", () => {
  const book = createCounterBook(policyOf("ag_ui: {}\n").limits);
  const event = eventOf("error display");
  expect(book.peek(event, {}, 1000).eventsInSecond).toBe(1);
  expect(book.peek(event, {}, 1000, false).eventsInSecond).toBe(1);
  expect(book.peek(event, {}, 1000).eventsInSecond).toBe(2);
});

test("what is counted later than it was leaves the window when it would have, and what has left is not counted", () => {
  const counter = createWindowCounter(1000);
  counter.add(2000, 3, 1500);
  counter.add(2000, 1);
  expect(counter.used(2000)).toBe(4);
  expect(counter.used(2499)).toBe(4);
  expect(counter.used(2600)).toBe(1);
  counter.add(4000, 5, 2900);
  expect(counter.used(4000)).toBe(0);
});

test("a cap that is counted elsewhere is asked there, and is in no snapshot", () => {
  const { limits } = policyOf(POLICY);
  const told: string[] = [];
  const book = createCounterBook(limits, {
    shared: ({ id, scope }) =>
      scope === "session"
        ? {
            used: (key) => (key === "s" ? 1 : Number.POSITIVE_INFINITY),
            count: (key) => void told.push(`count ${id} ${key}`),
            reserve: (key, events) => {
              told.push(`reserve ${id} ${key} ${events}`);
              return key === "s" ? undefined : Promise.resolve();
            },
            release: (key) => void told.push(`release ${id} ${key}`),
          }
        : undefined,
  });
  const event = eventOf("notification alert toast");
  const other = eventOf("error display");
  const keys = { session: "s", agent: "a" };
  expect(Array.from(book.peek(event, keys, 0).velocity)).toEqual([2, 1]);
  expect(Array.from(book.peek(event, {}, 0).velocity)).toEqual([Number.POSITIVE_INFINITY, 1]);
  book.commit(event, keys, 0);
  expect([book.isShared, book.reserve(event, keys, 1), book.reserve(other, keys, 1)]).toEqual([
    true,
    undefined,
    undefined,
  ]);
  expect(book.reserve(undefined, {}, 7)).toBeInstanceOf(Promise);
  book.release({ agent: "a" });
  book.release(keys);
  expect(told).toEqual(["count a s", "reserve a s 1", "reserve a  7", "release a s"]);
  expect(Object.keys(book.toJSON())).toEqual(["b-agent"]);
});

test("what cannot be counted is blocked under its own reason", () => {
  const policy = policyOf(
    POLICY.replace(
      "ag_ui: {}",
      "ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }",
    ),
  );
  const event = eventOf("notification alert toast");
  const reasonFor = (used: number): string | undefined => {
    const counters = { eventsInSecond: 1, velocity: [used, 1] };
    const decision = policy.evaluate({ event, transport: "sse", counters });
    return decision.allow ? undefined : `${decision.reasonCode}: ${decision.reason}`;
  };
  expect(reasonFor(3)).toBe(
    "velocity_exceeded: more than 2 events of this kind per session in 10 seconds",
  );
  expect(reasonFor(Number.POSITIVE_INFINITY)).toBe(
    "velocity_exceeded: events of this kind per session cannot be counted for now",
  );
  expect(reasonFor(2)).toBeUndefined();
});
