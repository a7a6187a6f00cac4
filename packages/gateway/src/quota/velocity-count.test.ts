import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countedLimits } from "../testing/counted-limits.js";
import type { CountRequest, WindowLimit } from "./count-store.js";
import { grantVelocity, emptyAt, LEASE_MS } from "./velocity-caps.js";
import type { VelocityCount } from "./velocity-caps.js";

const TEN: WindowLimit = { kind: "window", max: 10, capacity: 10, windowMs: 60_000 };
const KEPT_MS = LEASE_MS + 1000;

function ask(
  before: VelocityCount | undefined,
  question: Partial<CountRequest<WindowLimit>>,
  gateway: string,
  now: number,
) {
  const full = { limit: TEN, settled: [], wanted: 0, lease: `${gateway}/${now}`, ...question };
  return grantVelocity(before, full, gateway, now);
}

test("granted and counted events together never exceed the limit", () => {
  const first = ask(undefined, { wanted: 4, lease: "a/1" }, "a", 0);
  expect(first.result).toEqual({ given: 4, used: 4, elsewhere: 0 });
  const second = ask(first.count, { wanted: 9, lease: "b/1" }, "b", 10);
  expect(second.result).toEqual({ given: 6, used: 10, elsewhere: 4 });
  const third = ask(
    second.count,
    { settled: [{ id: "a/1", used: 1, ageMs: 5 }], wanted: 9 },
    "a",
    20,
  );
  expect(third.result).toEqual({ given: 3, used: 10, elsewhere: 6 });
});

test("a lease is settled once: a repetition changes nothing", () => {
  const given = ask(undefined, { wanted: 10, lease: "a/1" }, "a", 0);
  const settled = [{ id: "a/1", used: 3, ageMs: 0 }];
  const once = ask(given.count, { settled }, "a", 10);
  const twice = ask(once.count, { settled }, "a", 20);
  expect([once.result.used, twice.result.used]).toEqual([3, 3]);
  const unknown = ask(twice.count, { settled: [{ id: "z/9", used: 5, ageMs: 0 }] }, "z", 30);
  expect(unknown.result.used).toBe(3);
});

test("a gateway cannot report more use than it was granted, or use in the future", () => {
  const given = ask(undefined, { wanted: 2, lease: "a/1" }, "a", 0);
  const settled = [{ id: "a/1", used: 1_000_000, ageMs: -1_000_000 }];
  const { count, result } = ask(given.count, { settled }, "a", 10);
  expect(result.used).toBe(2);
  expect(ask(count, {}, "a", 62_000).result.used).toBe(0);
});

test("a lease without a report counts as used at its end, for one window", () => {
  const given = ask(undefined, { wanted: 10, lease: "a/1" }, "a", 0);
  const before = ask(given.count, { wanted: 1 }, "b", KEPT_MS - 1);
  expect(before.result).toEqual({ given: 0, used: 10, elsewhere: 10 });
  const over = ask(before.count, { wanted: 1 }, "b", KEPT_MS);
  expect(over.result).toEqual({ given: 0, used: 10, elsewhere: 0 });
  const late = [{ id: "a/1", used: 0, ageMs: 0 }];
  expect(ask(over.count, { settled: late, wanted: 1 }, "a", KEPT_MS + 1).result.given).toBe(0);
  expect(ask(over.count, { wanted: 1 }, "b", KEPT_MS + 59_999).result.given).toBe(0);
  expect(ask(over.count, { wanted: 1 }, "b", KEPT_MS + 61_000).result.given).toBe(1);
});

test("a count that may be removed is empty, whatever its last response granted", () => {
  fc.assert(
    fc.property(countedLimits(), fc.nat(2_000_000_000), (limit, now) => {
      const { count } = ask(undefined, { limit, wanted: limit.capacity }, "a", now);
      expect(ask(count, { limit }, "b", emptyAt(limit, now)).result.used).toBeCloseTo(0);
    }),
  );
});
