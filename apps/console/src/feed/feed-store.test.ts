import { expect, test, vi } from "vitest";
import { decision } from "../testing/decisions.js";
import { feedFilterOf, passesFilter } from "./feed-filter.js";
import { FeedStore, MAX_ITEMS } from "./feed-store.js";

test("after a torn line nothing is there twice, and only the newest are kept", () => {
  vi.useFakeTimers();
  try {
    const store = new FeedStore();
    const told = vi.fn<() => void>();
    store.subscribe(told);
    store.push([decision(0), decision(1)]);
    store.push([decision(0), decision(1), decision(2)]);
    expect(told).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(told).toHaveBeenCalledTimes(1);
    expect(store.view().items.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    store.push(Array.from({ length: 2 * MAX_ITEMS }, (_, at) => decision(at + 3)));
    store.skip(7);
    vi.advanceTimersByTime(100);
    const { items, total, lost } = store.view();
    expect([items.length, items.at(-1)?.seq, total, lost]).toEqual([
      MAX_ITEMS,
      2 * MAX_ITEMS + 2,
      2 * MAX_ITEMS + 3,
      7,
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("rules are counted by what they blocked and what they only noted; an event without a rule was not readable", () => {
  const store = new FeedStore();
  store.push([
    decision(0, { allowed: false, rule: "a" }),
    decision(1, { rule: "a" }),
    decision(2, { allowed: false }),
    decision(3),
  ]);
  expect(store.topRules(5)).toEqual([
    { rule: "a", blocked: 1, noted: 1 },
    { rule: "gateway/invalid", blocked: 1, noted: 0 },
  ]);
});

test("seconds without a decision are zeros, and the last whole second is the newest", () => {
  const store = new FeedStore();
  store.push([decision(100), decision(100.5), decision(102, { allowed: false })]);
  const { seconds, allowed, blocked } = store.rates.columns(103_400);
  expect(seconds.slice(-3)).toEqual([100, 101, 102]);
  expect(allowed.slice(-3)).toEqual([2, 0, 0]);
  expect(blocked.slice(-3)).toEqual([0, 0, 1]);
});

test("every part of a filter must hold", () => {
  const item = decision(1, { rule: "gateway/role", session_id: "alice-1", type: "CUSTOM" });
  const passes = (query: string) => passesFilter(item, feedFilterOf(new URLSearchParams(query)));
  expect(passes("")).toBe(true);
  expect(passes("verdict=noted&direction=outbound&agent=sup&session=alice&rule=gateway/")).toBe(
    true,
  );
  expect(passes("text=custom")).toBe(true);
  for (const no of [
    "verdict=blocked",
    "direction=inbound",
    "agent=x",
    "session=bob",
    "rule=ag",
    "text=zz",
  ]) {
    expect([no, passes(no)]).toEqual([no, false]);
  }
});
