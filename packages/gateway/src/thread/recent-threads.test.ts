import { expect, test } from "vitest";
import { createMovedClock, describeLedgerContract, rowsOf } from "../testing/ledger-contract.js";
import type { LedgerRow, ThreadLedger } from "./ledger.js";
import { createMemoryLedger } from "./memory-ledger.js";
import { keepRecentThreads } from "./recent-threads.js";

const shared = new Map<string, ThreadLedger>();
describeLedgerContract("a ledger with recent threads at hand", async (name, clock) => {
  const ledger = shared.get(name) ?? keepRecentThreads(createMemoryLedger(clock), { minRows: 1 });
  shared.set(name, ledger);
  return { ...ledger, close: async () => {} };
});

const row = (id: string, value: object = {}): LedgerRow => ({
  kind: "message",
  id,
  value: value as LedgerRow["value"],
});

/** A ledger that counts its reads, can fail, and can be delayed. */
function counted(): ThreadLedger & { reads: number; fails: boolean; hold: Promise<void> } {
  const inner = createMemoryLedger(createMovedClock());
  const ledger = {
    ...inner,
    reads: 0,
    fails: false,
    hold: Promise.resolve(),
    claim: async (...parameters: Parameters<ThreadLedger["claim"]>) => {
      if (parameters[1] !== undefined) ledger.reads += 1;
      const claimed = await inner.claim(...parameters);
      await ledger.hold;
      return claimed;
    },
    write: async (...parameters: Parameters<ThreadLedger["write"]>) => {
      await inner.write(...parameters);
      if (ledger.fails) throw new Error("nobody knows");
    },
  };
  return ledger;
}

test("a thread is read once, and later writes are visible", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1 });
  await ledger.write("t", [row("a")]);
  expect(await rowsOf(ledger, "t")).toEqual([row("a")]);
  await ledger.write("t", [row("a", { n: 1 }), row("b")]);
  await ledger.write("t", [], [{ kind: "message", id: "b" }]);
  expect(await rowsOf(ledger, "t")).toEqual([row("a", { n: 1 })]);
  expect(inner.reads).toBe(1);
});

test("after a write with an unknown outcome, the thread is read again", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1 });
  await ledger.write("t", [row("z")]);
  await rowsOf(ledger, "t");
  inner.fails = true;
  await expect(ledger.write("t", [row("a")])).rejects.toThrow("nobody knows");
  expect(await rowsOf(ledger, "t")).toEqual([row("z"), row("a")]);
  expect(inner.reads).toBe(2);
});

test("a read during a write is not cached", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1 });
  let go = (): void => {};
  inner.hold = new Promise((resolve) => {
    go = resolve;
  });
  const early = rowsOf(ledger, "t");
  await ledger.write("t", [row("a")]);
  go();
  expect(await early).toEqual([]);
  expect(await rowsOf(ledger, "t")).toEqual([row("a")]);
});

test("the number of cached rows is bounded: the least recently used thread is read again", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1, maxSize: 1000 });
  for (const thread of ["s", "t"]) {
    await ledger.write(thread, [row("a"), row("b")]);
    await rowsOf(ledger, thread);
  }
  await rowsOf(ledger, "t");
  expect(inner.reads).toBe(2);
  await rowsOf(ledger, "s");
  expect(inner.reads).toBe(3);
  await ledger.write("s", [row("c"), row("d")]);
  expect(await rowsOf(ledger, "s")).toHaveLength(4);
  expect(inner.reads).toBe(4);
});

test("the size of cached rows is bounded: long ones are read again", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1, maxSize: 10_000 });
  const digests = Array.from({ length: 100 }, () => "d".repeat(64));
  for (const thread of ["s", "t"]) {
    await ledger.write(thread, [row("a", { content: digests })]);
    await rowsOf(ledger, thread);
  }
  await rowsOf(ledger, "s");
  expect(inner.reads).toBe(3);
  await ledger.write("s", [row("a", { content: [] })]);
  await rowsOf(ledger, "t");
  await rowsOf(ledger, "s");
  expect(inner.reads).toBe(4);
  await ledger.write("t", [row("b", { content: digests })]);
  expect(await rowsOf(ledger, "t")).toHaveLength(2);
  expect(inner.reads).toBe(5);
});

test("small threads are not cached, however many there are", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 2 });
  await ledger.write("t", [row("a")]);
  await rowsOf(ledger, "t");
  await rowsOf(ledger, "t");
  await rowsOf(ledger, "empty");
  await rowsOf(ledger, "empty");
  expect(inner.reads).toBe(4);
  await ledger.write("t", [row("b")]);
  await rowsOf(ledger, "t");
  await rowsOf(ledger, "t");
  expect(inner.reads).toBe(5);
});

test("a claim does not read a cached thread, and the claimed row is visible", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1 });
  const owner: LedgerRow = { kind: "thread", id: "", value: { owner: "anna" } };
  await ledger.write("t", [row("a")]);
  expect((await ledger.claim([{ thread: "t", row: owner }], "t")).rows).toEqual([row("a")]);
  const answer: LedgerRow = { kind: "answer", id: "b", value: {} };
  expect((await ledger.claim([{ thread: "t", row: answer }], "t")).rows).toEqual([row("a"), owner]);
  expect(await rowsOf(ledger, "t")).toEqual([row("a"), owner, answer]);
  expect(inner.reads).toBe(1);
});

test("a claim's read during a write is not cached", async () => {
  const inner = counted();
  const ledger = keepRecentThreads(inner, { minRows: 1 });
  let go = (): void => {};
  inner.hold = new Promise((resolve) => {
    go = resolve;
  });
  const early = ledger.claim([{ thread: "t", row: { kind: "run", id: "r", value: {} } }], "t");
  await ledger.write("t", [row("a")]);
  go();
  expect((await early).rows).toEqual([]);
  expect(await rowsOf(ledger, "t")).toEqual([row("a")]);
});
