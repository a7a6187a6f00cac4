import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FEW, MemoryVelocity } from "../testing/memory-velocity.js";
import { VelocityCaps } from "./velocity-caps.js";

const KEYS = Array.from({ length: 2000 }, (_, index) => `s${index}`);
/** The query timeout of PostgreSQL. */
const SILENCE_MS = 2000;

let store: MemoryVelocity;
let counts: VelocityCaps;
let isSilent: boolean;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "setInterval", "clearInterval", "clearTimeout", "Date"],
  });
  store = new MemoryVelocity(() => Date.now());
  isSilent = false;
  counts = new VelocityCaps({
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

/** Uses one event of each count, so that each has events to return soon. */
async function useAll(): Promise<void> {
  await Promise.all(KEYS.map((key) => shared().reserve(key, 1)));
  for (const key of KEYS) shared().count(key);
}

function swallow(): void {
  store.isAway = true;
  store.silenceMs = SILENCE_MS;
}

/** Milliseconds until the promise settles. */
async function waited(until: Promise<unknown> | undefined): Promise<number> {
  const since = Date.now();
  let isOver = false;
  void Promise.resolve(until).then(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(50);
  return Date.now() - since;
}

test("with thousands of counts to return, an event waits no longer for a database that drops packets", async () => {
  await useAll();
  swallow();
  // The event's request at the worst time: all reports were queued just before.
  await vi.advanceTimersByTimeAsync(800);
  expect(await waited(shared().reserve("fresh", 1))).toBeLessThanOrEqual(7000);
  // The database is known to be silent: an event waits only for the pending batch.
  for (const key of ["later", "last"]) {
    for (const other of KEYS) void shared().reserve(other, 1);
    expect(await waited(shared().reserve(key, 1))).toBeLessThanOrEqual(SILENCE_MS + 50);
    expect(shared().used(key)).toBe(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(700);
  }
});

test("when thousands of runs ask a database that falls silent, the last resolves with the first", async () => {
  swallow();
  expect(
    await waited(Promise.all(KEYS.map((key) => shared().reserve(key, 1)))),
  ).toBeLessThanOrEqual(7000);
});

test("a silent database gets one count at a time, and all of them within a second when it answers again", async () => {
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

test("a close while the database is silent does not wait for each of its counts", async () => {
  await useAll();
  swallow();
  await vi.advanceTimersByTimeAsync(300);
  expect(await waited(counts.close())).toBeLessThanOrEqual(7000);
});
