import type { VelocityLimit } from "@countersign/policy";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FEW, MemoryVelocity } from "../testing/memory-velocity.js";
import { VelocityCaps } from "./velocity-caps.js";

let store: MemoryVelocity;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "setInterval", "clearInterval", "clearTimeout", "Date"],
  });
  store = new MemoryVelocity(() => Date.now());
});

afterEach(() => {
  vi.useRealTimers();
});

function start(name: string, heard: (isSilent: boolean) => void = () => {}) {
  const figures = { waits: 0, failures: 0, isSilent: false };
  const counts = new VelocityCaps({
    store: store.of(name),
    gateway: name,
    listener: heard,
    figures,
    now: () => Date.now(),
  });
  const of = (limit: VelocityLimit = FEW) => {
    const shared = counts.of(limit);
    if (shared === undefined) throw new TypeError("counted elsewhere");
    return shared;
  };
  return { counts, figures, of };
}

/**
 * Uses up to that many events, one after the other, as a run does; returns the number of allowed
 * ones.
 */
async function use(counts: ReturnType<ReturnType<typeof start>["of"]>, events: number, key = "s") {
  let used = 0;
  for (let event = 0; event < events; event += 1) {
    for (let until = counts.reserve(key, 1); until !== undefined; until = counts.reserve(key, 1)) {
      await settle(until);
    }
    if (counts.used(key) + 1 > FEW.capacity) continue;
    counts.count(key);
    used += 1;
  }
  return used;
}

/** Advances the time until the promise settles. */
async function settle(until: Promise<void>): Promise<void> {
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  for (let step = 0; step < 200 && !isOver; step += 1) await vi.advanceTimersByTimeAsync(50);
}

test("one gateway gets the whole limit, an eighth per request", async () => {
  const { of, figures } = start("a");
  expect(await use(of(), 20)).toBe(16);
  expect(figures.failures).toBe(0);
  expect(store.asked.map(({ wanted }) => wanted).slice(0, 3)).toEqual([2, 2, 2]);
});

test("gateways share the limit of each key, and no event is used twice", async () => {
  const [a, b, c] = [start("a"), start("b"), start("c")];
  const used: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const { of } of [a, b, c]) used.push(await use(of(), 1));
  }
  expect(used.reduce((sum, one) => sum + one, 0)).toBe(16);
  expect(await use(b.of(), 3, "another")).toBe(3);
});

test("unused events are available to others within a second, and at once after a release", async () => {
  const [a, b] = [start("a"), start("b")];
  await a.of().reserve("s", 16);
  expect(await use(b.of(), 16)).toBe(16);
  await a.of().reserve("other", 16);
  a.of().release("other");
  await vi.advanceTimersByTimeAsync(0);
  const before = Date.now();
  await b.of().reserve("other", 16);
  expect([b.of().used("other"), Date.now()]).toEqual([0, before]);
});

test("an exhausted limit denies without a request until some of it may be available again", async () => {
  const { of } = start("a");
  await use(of(), 17);
  const asked = store.asked.length;
  expect(of().reserve("s", 1)).toBeUndefined();
  expect(of().used("s")).toBe(16);
  expect(store.asked.length).toBe(asked);
  await vi.advanceTimersByTimeAsync(62_000);
  expect(await use(of(), 1)).toBe(1);
});

test("an event waits for a database that is silent for a second, and is not denied", async () => {
  const heard: boolean[] = [];
  const { of, figures } = start("a", (isSilent) => void heard.push(isSilent));
  store.isAway = true;
  setTimeout(() => {
    store.isAway = false;
  }, 1000);
  expect(await use(of(), 1)).toBe(1);
  expect(heard).toEqual([true, false]);
  expect(figures).toMatchObject({ isSilent: false });
});

test("while a database stays silent, reserved events can be used for five seconds", async () => {
  const { of } = start("a");
  await of().reserve("s", 16);
  store.isAway = true;
  expect(await use(of(), 10)).toBe(10);
  await vi.advanceTimersByTimeAsync(300);
  of().reserve("s", 1);
  expect(of().used("s")).toBe(10);
  for (let step = 0; step < 25; step += 1) {
    await vi.advanceTimersByTimeAsync(200);
    of().reserve("s", 1);
  }
  expect(of().used("s")).toBe(Number.POSITIVE_INFINITY);
  const before = Date.now();
  expect(await use(of(), 1)).toBe(0);
  // An event does not wait for a database that has been silent for long.
  expect(Date.now() - before).toBeLessThan(1000);
});

test("a reloaded policy continues the same counts, and an unknown key allows nothing", async () => {
  const { of } = start("a");
  expect(await use(of(), 10)).toBe(10);
  const again = of({ ...FEW, match: () => false });
  expect(again.used("s")).toBeGreaterThanOrEqual(10);
  expect(await use(again, 10)).toBe(6);
  expect(of().used("never")).toBe(Number.POSITIVE_INFINITY);
});

test("a limit per connection is counted at its own gateway", () => {
  expect(start("a").counts.of({ ...FEW, scope: "connection" })).toBeUndefined();
});

test("a close reports the used events and returns the rest", async () => {
  const a = start("a");
  await a.of().reserve("s", 16);
  a.of().count("s");
  await a.counts.close();
  const b = start("b");
  await b.of().reserve("s", 16);
  expect(b.of().used("s")).toBe(1);
});

test("a killed gateway's events count as used until a window has passed", async () => {
  const a = start("a");
  await a.of().reserve("s", 4);
  // Simulates a killed gateway: its lease is never settled.
  const [before] = store.counts.values();
  const [key] = store.counts.keys();
  await a.counts.close();
  if (key !== undefined && before !== undefined) store.counts.set(key, before);
  const b = start("b");
  expect(await use(b.of(), 16)).toBe(12);
  await vi.advanceTimersByTimeAsync(70_000);
  expect(await use(b.of(), 16)).toBe(16);
});

test("only unused counts are removed", async () => {
  const { of } = start("a");
  for (let key = 0; key < 100; key += 1) await use(of(), 1, `s${key}`);
  await vi.advanceTimersByTimeAsync(3000);
  expect(of().used("s1")).toBe(Number.POSITIVE_INFINITY);
  expect(await use(of(), 16, "s1")).toBe(15);
});

test("an event waits for what others hold, but not again while they keep it", async () => {
  const [a, b] = [start("a"), start("b")];
  await a.of().reserve("s", 16);
  const busy = setInterval(() => a.of().reserve("s", 1), 100);
  const waited: number[] = [];
  for (let event = 0; event < 3; event += 1) {
    const before = Date.now();
    expect(await use(b.of(), 1)).toBe(0);
    waited.push(Date.now() - before);
    await vi.advanceTimersByTimeAsync(1100);
  }
  clearInterval(busy);
  expect(waited[0]).toBeGreaterThanOrEqual(1000);
  expect(Math.max(...waited.slice(1))).toBeLessThan(200);
  await vi.advanceTimersByTimeAsync(12_000);
  expect(await use(b.of(), 1)).toBe(1);
});
