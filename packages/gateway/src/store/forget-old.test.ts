import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMovedClock, rowsOf } from "../testing/keyed-store-contract.js";
import type { MovedClock } from "../testing/keyed-store-contract.js";
import { forgetOld } from "./forget-old.js";
import type { KeyedStore } from "./keyed-store.js";
import { openSqliteKeyedStore } from "./sqlite/open-sqlite-store.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TODAY = 1_800_000_000_000;

let directory: string;
let store: KeyedStore;
let clock: MovedClock;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-forget-"));
  clock = createMovedClock();
  clock.time = TODAY;
  store = await openSqliteKeyedStore({ directory, clock });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const write = (thread: string): Promise<void> =>
  store.write(thread, [{ kind: "thread", id: "", value: { owner: "alice" } }]);
const isKnown = async (thread: string): Promise<boolean> =>
  (await rowsOf(store, thread)).length > 0;
const lookAt = (time: number, keepMs = 30 * DAY): Promise<number> => {
  clock.time = time;
  return forgetOld(store, time, keepMs);
};

test("a thread is removed when a check a day ago found it old, also across restarts", async () => {
  await write("t");
  const old = TODAY + 30 * DAY + 1;
  expect(await lookAt(old)).toBe(0);
  await store.close();
  store = await openSqliteKeyedStore({ directory, clock });
  expect(await lookAt(old + DAY - 1)).toBe(0);
  expect(await isKnown("t")).toBe(true);
  expect(await lookAt(old + DAY)).toBe(1);
  expect(await isKnown("t")).toBe(false);
});

test.each([
  ["without a look before", []],
  ["with looks before", [TODAY - 2 * DAY, TODAY]],
])("a start with a clock that is ahead gives no thread away, %s", async (_, looks) => {
  for (const time of looks) await lookAt(time);
  clock.time = TODAY;
  await write("t");
  for (const hours of [0, 1, 5, 23]) {
    expect(await lookAt(TODAY + 40 * DAY + hours * HOUR)).toBe(0);
    await write("others");
  }
  expect(await lookAt(TODAY + DAY)).toBe(0);
  expect(await lookAt(TODAY + 3 * DAY)).toBe(0);
  expect(await isKnown("t")).toBe(true);
});

test("a clock that was behind makes no thread older than it was", async () => {
  await write("t");
  clock.time = 0;
  await write("t");
  expect(await lookAt(0)).toBe(0);
  expect(await lookAt(TODAY)).toBe(0);
  expect(await lookAt(TODAY + 2 * DAY)).toBe(0);
  expect(await isKnown("t")).toBe(true);
});

test("a thread that is written to between two checks stays", async () => {
  await write("t");
  const old = TODAY + 30 * DAY + 1;
  await lookAt(old);
  await write("t");
  expect(await lookAt(old + 2 * DAY)).toBe(0);
  expect(await isKnown("t")).toBe(true);
});

test("the operator sets how long a thread is kept", async () => {
  await write("t");
  expect(await lookAt(TODAY + 3 * DAY, 2 * DAY)).toBe(0);
  expect(await lookAt(TODAY + 4 * DAY, 4 * DAY)).toBe(0);
  expect(await lookAt(TODAY + 5 * DAY, 2 * DAY)).toBe(1);
  expect(await isKnown("t")).toBe(false);
});

test("a failed removal is repeated at the next call", async () => {
  await write("t");
  const old = TODAY + 30 * DAY + 1;
  await lookAt(old);
  clock.time = old + DAY;
  const failing: KeyedStore = { ...store, forget: () => Promise.reject(new Error("silent")) };
  await expect(forgetOld(failing, clock.time, 30 * DAY)).rejects.toThrow("silent");
  expect(await isKnown("t")).toBe(true);
  expect(await lookAt(old + DAY + 1)).toBe(1);
  expect(await isKnown("t")).toBe(false);
});
