import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { createMemoryStore } from "../store/memory-store.js";
import { ThreadLocks } from "./thread-locks.js";
import type { ThreadLock } from "./thread-locks.js";

const NO_WAITS = { step: 0, notice: 0, missing: 0, retry: 1 };

/** Gateways on one ledger; a killed one has no heartbeat and never removes its locks. */
function createGateways(ledger: KeyedStore = createMemoryStore(SYSTEM_CLOCK)) {
  const ages = new Map<string, number | undefined>();
  const start = (gateway: string): ThreadLocks => {
    ages.set(gateway, 0);
    const peers = { gateway, heartbeatAge: async (name: string) => ages.get(name) };
    return new ThreadLocks(ledger, peers, NO_WAITS);
  };
  const open = async (locks: ThreadLocks): Promise<ThreadLock> => {
    const lock = locks.create("t", "alice");
    const { known, rows } = await ledger.claim([lock.claim()], "t");
    await locks.acquire(lock, known[0], rows);
    return lock;
  };
  return { ages, start, open };
}

/** The next act: a request at a gateway, the end of the open run, or a kill of a gateway and its new start. */
const act = fc.record({
  at: fc.nat(2),
  what: fc.constantFrom("open", "open", "race", "end", "kill" as const),
  isListed: fc.boolean(),
});

test("a thread has one open run over all gateways, whichever of them are killed, and is free when that has ended", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
      const { ages, start, open } = createGateways();
      let count = 3;
      const names = ["g0", "g1", "g2"];
      const gateways = names.map(start);
      let held: { at: number; lock: ThreadLock } | undefined;
      const opened: { runs: number; expected: number }[] = [];
      for (const { at, what, isListed } of acts) {
        if (what === "end" && held !== undefined) {
          await (gateways[held.at] as ThreadLocks).release(held.lock);
          held = undefined;
        } else if (what === "kill") {
          ages.set(names[at] as string, isListed ? 5001 : undefined);
          names[at] = `g${count}`;
          count += 1;
          gateways[at] = start(names[at]);
          if (held?.at === at) held = undefined;
        } else if (held?.at !== at) {
          // A gateway with an open run on the thread refuses a second one without a lock.
          const others = what === "race" ? [0, 1, 2].filter((other) => other !== held?.at) : [at];
          const locks = await Promise.all(
            others.map(async (other) => ({
              at: other,
              lock: await open(gateways[other] as ThreadLocks),
            })),
          );
          const got = locks.filter(({ lock }) => lock.isHeld);
          opened.push({ runs: got.length, expected: held === undefined ? 1 : 0 });
          held ??= got[0];
        }
      }
      expect(opened.filter(({ runs, expected }) => runs !== expected)).toEqual([]);
      if (held !== undefined) await (gateways[held.at] as ThreadLocks).release(held.lock);
      expect((await open(gateways[0] as ThreadLocks)).isHeld).toBe(true);
    }),
  );
});

test("a gateway whose heartbeat is late or cannot be read keeps its thread", async () => {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  const { ages, start, open } = createGateways(ledger);
  const first = start("first");
  expect((await open(first)).isHeld).toBe(true);
  ages.set("first", 50);
  expect((await open(start("second"))).isHeld).toBe(false);
  const heartbeatAge = (): Promise<number> => Promise.reject(new Error("database down"));
  const blind = new ThreadLocks(ledger, { gateway: "third", heartbeatAge }, NO_WAITS);
  expect((await open(blind)).isHeld).toBe(false);
});

test("a lock that could not be removed is removed when the ledger responds again", async () => {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  let isDown = false;
  const write: KeyedStore["write"] = (...parts) =>
    isDown ? Promise.reject(new Error("database down")) : ledger.write(...parts);
  const { start, open } = createGateways({ ...ledger, write });
  const [first, second] = [start("first"), start("second")];
  const lock = await open(first);
  isDown = true;
  await first.release(lock);
  expect((await open(second)).isHeld).toBe(false);
  isDown = false;
  await vi.waitFor(async () => expect((await open(second)).isHeld).toBe(true));
});
