import { expect, test } from "vitest";
import { FEW, MemoryVelocity } from "../testing/memory-velocity.js";
import { degradeCounts } from "./degrading-counts.js";
import { VELOCITY } from "./velocity-caps.js";

let leases = 0;
const ask = (wanted: number) => {
  leases += 1;
  return { key: "k", limit: FEW, settled: [], wanted, lease: `l${leases}` };
};

test("each gateway has the whole cap while the store is away, is said so once, and shares it again", async () => {
  let now = 1_000_000;
  const store = new MemoryVelocity(() => now);
  const heard: string[] = [];
  const open = (gateway: string) =>
    degradeCounts(VELOCITY, {
      store: store.of(gateway),
      gateway,
      isUp: () => true,
      onDegraded: (is) => void heard.push(`${gateway} ${String(is)}`),
      now: () => now,
    });
  const [a, b] = [open("a"), open("b")];
  expect(await a.exchange([ask(10)])).toMatchObject([{ given: 10 }]);
  store.isAway = true;
  for (const one of [a, b]) {
    expect(await one.exchange([ask(16)])).toMatchObject([{ given: 16 }]);
    expect(await one.exchange([ask(1)])).toMatchObject([{ given: 0, used: 16 }]);
  }
  store.isAway = false;
  // What was granted before is still granted.
  expect(await b.exchange([ask(16)])).toMatchObject([{ given: 6, used: 16 }]);
  expect(await a.exchange([ask(1)])).toMatchObject([{ given: 0 }]);
  now += 1;
  expect(heard).toEqual(["a true", "b true", "b false", "a false"]);
});

test("a store that is known to be away is not asked", async () => {
  const store = new MemoryVelocity(() => 1_000_000);
  const counts = degradeCounts(VELOCITY, {
    store: store.of("a"),
    gateway: "a",
    isUp: () => false,
    onDegraded: () => {},
  });
  await counts.exchange([ask(1)]);
  expect(store.asked).toEqual([]);
});
