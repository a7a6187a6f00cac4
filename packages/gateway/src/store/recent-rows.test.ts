import { expect, test } from "vitest";
import {
  createMovedClock,
  describeKeyedStoreContract,
  rowsOf,
} from "../testing/keyed-store-contract.js";
import type { StoredRow, KeyedStore } from "./keyed-store.js";
import { createMemoryStore } from "./memory-store.js";
import { keepRecentRows } from "./recent-rows.js";

const shared = new Map<string, KeyedStore>();
describeKeyedStoreContract("a store with recent threads at hand", async (name, clock) => {
  const store = shared.get(name) ?? keepRecentRows(createMemoryStore(clock), { minRows: 1 });
  shared.set(name, store);
  return { ...store, close: async () => {} };
});

const row = (id: string, value: object = {}): StoredRow => ({
  kind: "message",
  id,
  value: value as StoredRow["value"],
});

/** A store that counts its reads, can fail, and can be delayed. */
function counted(): KeyedStore & { reads: number; fails: boolean; hold: Promise<void> } {
  const inner = createMemoryStore(createMovedClock());
  const store = {
    ...inner,
    reads: 0,
    fails: false,
    hold: Promise.resolve(),
    claim: async (...parameters: Parameters<KeyedStore["claim"]>) => {
      if (parameters[1] !== undefined) store.reads += 1;
      const claimed = await inner.claim(...parameters);
      await store.hold;
      return claimed;
    },
    write: async (...parameters: Parameters<KeyedStore["write"]>) => {
      await inner.write(...parameters);
      if (store.fails) throw new Error("nobody knows");
    },
  };
  return store;
}

test("a thread is read once, and later writes are visible", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1 });
  await store.write("t", [row("a")]);
  expect(await rowsOf(store, "t")).toEqual([row("a")]);
  await store.write("t", [row("a", { n: 1 }), row("b")]);
  await store.write("t", [], [{ kind: "message", id: "b" }]);
  expect(await rowsOf(store, "t")).toEqual([row("a", { n: 1 })]);
  expect(inner.reads).toBe(1);
});

test("after a write with an unknown outcome, the thread is read again", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1 });
  await store.write("t", [row("z")]);
  await rowsOf(store, "t");
  inner.fails = true;
  await expect(store.write("t", [row("a")])).rejects.toThrow("nobody knows");
  expect(await rowsOf(store, "t")).toEqual([row("z"), row("a")]);
  expect(inner.reads).toBe(2);
});

test("a read during a write is not cached", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1 });
  let go = (): void => {};
  inner.hold = new Promise((resolve) => {
    go = resolve;
  });
  const early = rowsOf(store, "t");
  await store.write("t", [row("a")]);
  go();
  expect(await early).toEqual([]);
  expect(await rowsOf(store, "t")).toEqual([row("a")]);
});

test("the number of cached rows is bounded: the least recently used thread is read again", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1, maxSize: 1000 });
  for (const thread of ["s", "t"]) {
    await store.write(thread, [row("a"), row("b")]);
    await rowsOf(store, thread);
  }
  await rowsOf(store, "t");
  expect(inner.reads).toBe(2);
  await rowsOf(store, "s");
  expect(inner.reads).toBe(3);
  await store.write("s", [row("c"), row("d")]);
  expect(await rowsOf(store, "s")).toHaveLength(4);
  expect(inner.reads).toBe(4);
});

test("the size of cached rows is bounded: long ones are read again", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1, maxSize: 10_000 });
  const digests = Array.from({ length: 100 }, () => "d".repeat(64));
  for (const thread of ["s", "t"]) {
    await store.write(thread, [row("a", { content: digests })]);
    await rowsOf(store, thread);
  }
  await rowsOf(store, "s");
  expect(inner.reads).toBe(3);
  await store.write("s", [row("a", { content: [] })]);
  await rowsOf(store, "t");
  await rowsOf(store, "s");
  expect(inner.reads).toBe(4);
  await store.write("t", [row("b", { content: digests })]);
  expect(await rowsOf(store, "t")).toHaveLength(2);
  expect(inner.reads).toBe(5);
});

test("small threads are not cached, however many there are", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 2 });
  await store.write("t", [row("a")]);
  await rowsOf(store, "t");
  await rowsOf(store, "t");
  await rowsOf(store, "empty");
  await rowsOf(store, "empty");
  expect(inner.reads).toBe(4);
  await store.write("t", [row("b")]);
  await rowsOf(store, "t");
  await rowsOf(store, "t");
  expect(inner.reads).toBe(5);
});

test("a claim does not read a cached thread, and the claimed row is visible", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1 });
  const owner: StoredRow = { kind: "thread", id: "", value: { owner: "anna" } };
  await store.write("t", [row("a")]);
  expect((await store.claim([{ partition: "t", row: owner }], "t")).rows).toEqual([row("a")]);
  const answer: StoredRow = { kind: "answer", id: "b", value: {} };
  expect((await store.claim([{ partition: "t", row: answer }], "t")).rows).toEqual([
    row("a"),
    owner,
  ]);
  expect(await rowsOf(store, "t")).toEqual([row("a"), owner, answer]);
  expect(inner.reads).toBe(1);
});

test("a claim's read during a write is not cached", async () => {
  const inner = counted();
  const store = keepRecentRows(inner, { minRows: 1 });
  let go = (): void => {};
  inner.hold = new Promise((resolve) => {
    go = resolve;
  });
  const early = store.claim([{ partition: "t", row: { kind: "run", id: "r", value: {} } }], "t");
  await store.write("t", [row("a")]);
  go();
  expect((await early).rows).toEqual([]);
  expect(await rowsOf(store, "t")).toEqual([row("a")]);
});
