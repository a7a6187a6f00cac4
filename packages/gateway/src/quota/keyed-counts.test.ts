import { expect, test } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import type { CountedLimit } from "./count-store.js";
import { openKeyedCounts } from "./keyed-counts.js";
import { VELOCITY } from "./velocity-caps.js";

const LIMIT: CountedLimit = { kind: "window", max: 10, capacity: 10, windowMs: 60_000 };
const question = (key: string, wanted: number, lease = "l") => ({
  key,
  limit: LIMIT,
  settled: [],
  wanted,
  lease,
});

test("a gateway that restarts finds counted and granted events until they expire", async () => {
  let now = 1_000_000;
  const clock = { now: () => now };
  const ledger = createMemoryStore(clock);
  const first = await openKeyedCounts(VELOCITY, { store: ledger, gateway: "a", clock });
  await first.exchange([question("s1", 4, "one"), question("s2", 10, "two")]);
  const settled = [{ id: "one", used: 4, ageMs: 0 }];
  await first.exchange([{ ...question("s1", 0), settled }]);
  const second = await openKeyedCounts(VELOCITY, { store: ledger, gateway: "b", clock });
  expect(await second.exchange([question("s1", 9), question("s2", 1)])).toEqual([
    { given: 6, used: 10, elsewhere: 0 },
    { given: 0, used: 10, elsewhere: 10 },
  ]);
  now += 200_000;
  await second.sweep();
  expect((await ledger.claim([], "velocity")).rows).toEqual([]);
  expect(await second.exchange([question("s2", 9)])).toMatchObject([{ given: 9 }]);
});

test("a grant that cannot be written is not made, and its events stay taken", async () => {
  const clock = { now: () => 1_000_000 };
  const ledger = createMemoryStore(clock);
  let isFull = false;
  const store = await openKeyedCounts(VELOCITY, {
    store: {
      claim: (claims, reading) => ledger.claim(claims, reading),
      write: (...rows) => (isFull ? Promise.reject(new Error("full")) : ledger.write(...rows)),
    },
    gateway: "a",
    clock,
  });
  isFull = true;
  await expect(store.exchange([question("s", 4)])).rejects.toThrow("full");
  isFull = false;
  expect(await store.exchange([question("s", 10)])).toMatchObject([{ given: 6, used: 10 }]);
});
