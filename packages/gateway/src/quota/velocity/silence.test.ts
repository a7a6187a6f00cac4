import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FEW, MemoryVelocity } from "../../testing/memory-velocity.js";
import { LeasedCounts } from "./leased-counts.js";

const KEYS = Array.from({ length: 2000 }, (_, index) => `s${index}`);
/** As long as PostgreSQL is waited for. */
const SILENCE_MS = 2000;

let store: MemoryVelocity;
let counts: LeasedCounts;
let isSilent: boolean;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "setInterval", "clearInterval", "clearTimeout", "Date"],
  });
  store = new MemoryVelocity(() => Date.now());
  isSilent = false;
  counts = new LeasedCounts({
    store: store.of("a"),
    gateway: "a",
    listener: (heard) => {
      isSilent = heard;
    },
    now: () => Date.now(),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function shared() {
  const of = counts.of(FEW);
  if (of === undefined) throw new TypeError("counted elsewhere");
  return of;
}

/** All of them have used one event, and something of each is to be given back soon. */
async function useAll(): Promise<void> {
  await Promise.all(KEYS.map((key) => shared().reserve(key, 1)));
  for (const key of KEYS) shared().count(key);
}

function swallow(): void {
  store.isAway = true;
  store.silenceMs = SILENCE_MS;
}

/** Milliseconds until it is settled. */
async function waited(until: Promise<unknown> | undefined): Promise<number> {
  const since = Date.now();
  let isOver = false;
  void Promise.resolve(until).then(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(50);
  return Date.now() - since;
}

test("with thousands of counts to give back, an event waits no longer for a database that swallows packets", async () => {
  await useAll();
  swallow();
  // The question of an event at the worst of times: everything else was said to be given back just now.
  await vi.advanceTimersByTimeAsync(800);
  expect(await waited(shared().reserve("fresh", 1))).toBeLessThanOrEqual(7000);
  // It is known to be silent: nobody waits for more than what is on its way.
  for (const key of ["later", "last"]) {
    for (const other of KEYS) void shared().reserve(other, 1);
    expect(await waited(shared().reserve(key, 1))).toBeLessThanOrEqual(SILENCE_MS + 50);
    expect(shared().used(key)).toBe(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(700);
  }
});

test("when thousands of runs ask a database that falls silent, the last of them is told with the first", async () => {
  swallow();
  expect(
    await waited(Promise.all(KEYS.map((key) => shared().reserve(key, 1)))),
  ).toBeLessThanOrEqual(7000);
});

test("a silent database is told of one count at a time, and of all within a second when it is back", async () => {
  await useAll();
  store.isAway = true;
  await vi.advanceTimersByTimeAsync(1000);
  expect(isSilent).toBe(true);
  const before = store.missed.length;
  await vi.advanceTimersByTimeAsync(1000);
  expect(store.missed.slice(before)).toEqual([1, 1, 1, 1]);
  store.isAway = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(isSilent).toBe(false);
  expect([...store.counts.values()].flatMap(({ leases }) => leases)).toEqual([]);
});

test("who stops while the database is silent is not held up by each of its counts", async () => {
  await useAll();
  swallow();
  await vi.advanceTimersByTimeAsync(300);
  expect(await waited(counts.close())).toBeLessThanOrEqual(7000);
});
