import { afterEach, expect, test, vi } from "vitest";
import { createHealth } from "./health.js";

afterEach(() => vi.useRealTimers());

test("a wall clock that is set back does not delay the next probe", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: 10_000_000 });
  let isBack = false;
  const health = createHealth(async () => {
    if (!isBack) throw new Error("down");
  });
  health.failed();
  expect(health.isReady()).toBe(false);
  isBack = true;
  vi.advanceTimersByTime(1000);
  vi.setSystemTime(10_000_000 - 3_600_000);
  health.isReady();
  await Promise.resolve();
  expect(health.isReady()).toBe(true);
});

test("a failed dependency is probed at most once a second", () => {
  let now = 0;
  const probe = vi.fn(() => Promise.reject(new Error("down")));
  const health = createHealth(probe, () => now);
  health.failed();
  for (now = 0; now <= 2500; now += 250) health.isReady();
  expect(probe).toHaveBeenCalledTimes(3);
});
