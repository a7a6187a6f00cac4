import { expect, test, vi } from "vitest";
import { decision } from "../testing/decisions.js";
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
