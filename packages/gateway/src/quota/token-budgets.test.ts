import * as fc from "fast-check";
import { expect, test } from "vitest";
import { grantBudget, TokenBudgets } from "./token-budgets.js";
import type { BudgetCount } from "./token-budgets.js";
import type { CountRequest, CountStore, KeyedCountRequest, TotalLimit } from "./count-store.js";

/** One budget for all gateways, in memory; it can be made silent, and records its requests. */
function createStore() {
  const counts = new Map<string, BudgetCount>();
  const requests: KeyedCountRequest[] = [];
  const state = { isSilent: false };
  const of = (gateway: string): CountStore => ({
    exchange: async (asked) => {
      requests.push(...asked.filter(({ wanted }) => wanted > 0));
      if (state.isSilent) throw new Error("silent");
      return asked.map((request) => {
        const before = counts.get(request.key);
        const { count, result } = grantBudget(before, request as CountRequest<TotalLimit>, gateway);
        // Serialized as a row would be.
        counts.set(request.key, JSON.parse(JSON.stringify(count)) as BudgetCount);
        return result;
      });
    },
    sweep: async () => {},
    close: async () => {},
  });
  let gateways = 0;
  return {
    start: (listener: (isSilent: boolean) => void = () => {}, now?: () => number) => {
      gateways += 1;
      const gateway = `g${gateways}`;
      const clock = now === undefined ? {} : { now };
      return new TokenBudgets({ store: of(gateway), gateway, listener, ...clock });
    },
    requests,
    state,
    taken: () => counts.get("cap")?.taken ?? 0,
  };
}

const allowance = (maxEvents: number, id = "cap") => ({ id, maxEvents, expiresAt: 2e9 });

/** Uses an event if one is left, as a verifier does. */
function openOne(book: TokenBudgets, maxEvents: number, id = "cap"): boolean {
  if (book.spent(id) >= maxEvents) return false;
  book.count(id);
  return true;
}

test("nothing is allowed without a reservation, and the whole budget with reservations", async () => {
  const book = createStore().start();
  expect(openOne(book, 3)).toBe(false);
  for (let event = 0; event < 3; event += 1) {
    await book.reserve([allowance(3)], 1);
    expect(openOne(book, 3)).toBe(true);
  }
  await book.reserve([allowance(3)], 1);
  expect(openOne(book, 3)).toBe(false);
  await book.close();
});

test("reserved events are not requested again, and an exhausted budget is not requested at all", async () => {
  const { start, requests } = createStore();
  const book = start();
  await book.reserve([allowance(80)], 1);
  expect(requests).toHaveLength(1);
  expect(book.reserve([allowance(80)], 10)).toBeUndefined();
  expect(book.isAtHand([allowance(80)], 10)).toBe(true);
  expect(book.isAtHand([allowance(80)], 11)).toBe(false);
  await book.reserve([allowance(1, "one")], 1);
  openOne(book, 1, "one");
  await book.close();

  const other = createStore();
  const small = other.start();
  await small.reserve([allowance(1)], 5);
  expect(openOne(small, 1)).toBe(true);
  await small.reserve([allowance(1)], 1);
  expect(other.requests).toHaveLength(2);
  expect(small.reserve([allowance(1)], 1)).toBeUndefined();
  await small.close();
});

test("a large block is renewed before it is exhausted, and none is larger than 256", async () => {
  const { start, requests } = createStore();
  const book = start();
  await book.reserve([allowance(1e6)], 1);
  expect(requests.map(({ wanted }) => wanted)).toEqual([256]);
  for (let event = 0; event < 2000; event += 1) {
    expect(openOne(book, 1e6)).toBe(true);
    if (event % 16 === 0) await Promise.resolve();
    await Promise.resolve();
  }
  expect(Math.max(...requests.map(({ wanted }) => wanted))).toBe(256);
  await book.close();
});

test("while the store is silent reserved events can be used, then none; it is reported once and retried once a second", async () => {
  const { start, state, requests } = createStore();
  const told: boolean[] = [];
  let now = 0;
  const book = start(
    (isSilent) => told.push(isSilent),
    () => now,
  );
  await book.reserve([allowance(16)], 1);
  state.isSilent = true;
  expect([1, 2].map(() => openOne(book, 16))).toEqual([true, true]);
  await book.reserve([allowance(16)], 1);
  expect(openOne(book, 16)).toBe(false);
  expect(book.reserve([allowance(16)], 1)).toBeUndefined();
  now = 1000;
  await book.reserve([allowance(16)], 1);
  expect(requests).toHaveLength(3);
  state.isSilent = false;
  now = 2000;
  await book.reserve([allowance(16)], 1);
  expect(openOne(book, 16)).toBe(true);
  expect(told).toEqual([true, false]);
  await book.close();
});

test("a request that waits gets the events that another gateway returns meanwhile", async () => {
  const { start, taken } = createStore();
  const [first, second] = [start(), start()];
  await first.reserve([allowance(2)], 2);
  expect(openOne(first, 2)).toBe(true);
  const waiting = second.reserve([allowance(2)], 1, 5000);
  first.settle(["cap"]);
  await waiting;
  expect(openOne(second, 2)).toBe(true);
  expect(openOne(first, 2)).toBe(false);
  await first.close();
  await second.close();
  expect(taken()).toBe(2);
});

test("a run that starts asks again although the budget was empty a moment ago, unless all events were used", async () => {
  const { start, requests } = createStore();
  const [first, second] = [start(), start()];
  await first.reserve([allowance(1)], 1);
  await second.reserve([allowance(1)], 1);
  expect(second.reserve([allowance(1)], 1)).toBeUndefined();
  first.settle(["cap"]);
  await second.reserve([allowance(1)], 1, 1000);
  expect(openOne(second, 1)).toBe(true);
  await second.reserve([allowance(1)], 1);
  const asked = requests.length;
  expect(second.reserve([allowance(1)], 1, 1000)).toBeUndefined();
  expect(requests).toHaveLength(asked);
  await first.close();
  await second.close();
});

test("a close returns all unused events", async () => {
  const { start, taken } = createStore();
  const book = start();
  await book.reserve([allowance(80)], 10);
  openOne(book, 80);
  await book.close();
  expect(taken()).toBe(1);
});

test("for any reservations, uses, returns and crashes of several gateways, no more events are allowed than a limit, even a smaller one of the same token", async () => {
  const step = fc.record({
    gateway: fc.nat({ max: 2 }),
    does: fc.constantFrom("reserve", "open", "open", "open", "settle", "crash", "silence"),
    events: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.array(step, { maxLength: 60 }),
      async (maxEvents, lower, steps) => {
        const { start: open, state } = createStore();
        let now = 0;
        const start = (): TokenBudgets =>
          open(
            () => {},
            () => now,
          );
        const books = [start(), start(), start()];
        const gone: TokenBudgets[] = [];
        const limits = [maxEvents, Math.min(lower, maxEvents)];
        const opened = [0, 0];
        for (const { gateway, does, events } of steps) {
          const book = books[gateway] as TokenBudgets;
          now += 300;
          if (does === "reserve") await book.reserve([allowance(maxEvents)], events);
          else if (does === "settle") book.settle(["cap"]);
          else if (does === "silence") state.isSilent = !state.isSilent;
          else if (does === "crash") {
            gone.push(book);
            books[gateway] = start();
          } else {
            for (let event = 0; event < events; event += 1) {
              const number = book.spent("cap");
              if (number >= maxEvents) break;
              book.count("cap");
              limits.forEach((limit, index) => {
                if (number < limit) opened[index] = (opened[index] ?? 0) + 1;
              });
            }
          }
          limits.forEach((limit, index) => expect(opened[index]).toBeLessThanOrEqual(limit));
        }
        state.isSilent = true;
        for (const book of [...books, ...gone]) await book.close();
      },
    ),
    { numRuns: 200 },
  );
});
