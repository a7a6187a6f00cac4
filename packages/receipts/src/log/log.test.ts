import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test, vi } from "vitest";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { GroupSigner } from "../sign/group-signer.js";
import type { AppendBatch, ReceiptStore } from "../store/store.js";
import { draftOf } from "../testing/drafts.js";
import { openLog } from "./open-log.js";
import type { LogOptions } from "./open-log.js";

const key = generateKey();

type MemoryStore = ReceiptStore & {
  sizes: number[];
  fail: boolean;
  checkpoints: string[];
  held?: Promise<void>;
};

function memoryStore(): MemoryStore {
  let frontier: AppendBatch["frontier"] = { size: 0, hashes: [] };
  const never = async (): Promise<never> => {
    throw new TypeError("not part of this test");
  };
  const store: MemoryStore = {
    sizes: [],
    fail: false,
    checkpoints: [],
    async append(build) {
      await store.held;
      if (store.fail) throw new Error("down");
      const batch = build(frontier);
      store.sizes.push(batch.count);
      frontier = batch.frontier;
    },
    head: async () => frontier,
    readCheckpoint: async () => undefined,
    writeCheckpoint: async (text) => {
      store.checkpoints.push(text);
    },
    readAttestations: never,
    updateAttestations: never,
    leaseAttesting: never,
    readKeyHistory: never,
    writeKeyHistory: never,
    readTile: never,
    readEntries: never,
    first: never,
    planRemoval: never,
    remove: never,
    query: never,
    count: never,
    importForeign: never,
    queryForeign: never,
    close: async () => undefined,
  };
  return store;
}

async function logOver(store: ReceiptStore, more: Partial<LogOptions> = {}) {
  return openLog({
    store,
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(key),
    origin: "unit.example/log",
    checkpointInterval: 0,
    ...more,
  });
}

test("many streams share one flush, and their order is the log's order", async () => {
  const store = memoryStore();
  const log = await logOver(store, { groupSize: 10, flushSize: 1_000 });
  let release = (): void => undefined;
  store.held = new Promise((resolve) => {
    release = resolve;
  });
  const appends = Array.from({ length: 500 }, (_, number) => log.append(draftOf(number)));
  setTimeout(release, 50);
  const seqs = (await Promise.all(appends)).map((one) => one.seq);
  expect(seqs).toEqual(seqs.map((_, index) => index));
  expect(store.sizes.length).toBeLessThanOrEqual(3);
  await log.close();
});

test("appends one turn of the event loop apart share one flush", async () => {
  const store = memoryStore();
  const log = await logOver(store);
  const round = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const appends = [];
  for (let number = 0; number < 4; number += 1) {
    appends.push(log.append(draftOf(number)));
    await round();
  }
  await Promise.all(appends);
  expect(store.sizes).toEqual([4]);
  await log.append(draftOf(4));
  expect(store.sizes).toEqual([4, 1]);
  await log.close();
});

test("a continuous trickle of appends is flushed too", async () => {
  const store = memoryStore();
  const log = await logOver(store);
  let isTold = false;
  const first = log.append(draftOf(0)).then(() => {
    isTold = true;
  });
  const others = [];
  for (let number = 1; !isTold && number < 1_000; number += 1) {
    others.push(log.append(draftOf(number)));
    await new Promise((resolve) => void setImmediate(resolve));
  }
  await first;
  expect(others.length).toBeLessThan(100);
  await Promise.all(others);
  await log.close();
});

test("at the bound a further append is refused at once, and there is room again afterwards", async () => {
  const store = memoryStore();
  const log = await logOver(store, { maxQueue: 20 });
  const appends = Array.from({ length: 20 }, (_, number) => log.append(draftOf(number)));
  expect(log.pending).toBe(20);
  await expect(log.append(draftOf(20))).rejects.toMatchObject({
    code: "ERR_LOG_QUEUE_FULL",
    facts: { limit: 20 },
  });
  await Promise.all(appends);
  expect((await log.append(draftOf(21))).seq).toBe(20);
  expect(log.pending).toBe(0);
  await log.close();
});

test("a store that is down rejects what is in flight, and appends work again after it recovers", async () => {
  const store = memoryStore();
  const log = await logOver(store);
  await log.append(draftOf(0));
  store.fail = true;
  const failed = await Promise.allSettled([1, 2, 3].map((number) => log.append(draftOf(number))));
  expect(failed.map((one) => one.status)).toEqual(["rejected", "rejected", "rejected"]);
  store.fail = false;
  expect((await log.append(draftOf(4))).seq).toBe(1);
  await log.close();
});

test("a group that could not be signed does not hold up or renumber the others", async () => {
  const store = memoryStore();
  const real = await createInThreadSigner(key);
  let calls = 0;
  const signer: GroupSigner = {
    ...real,
    parallel: 4,
    async sign(request) {
      calls += 1;
      if (calls === 2) throw new Error("thread lost");
      return real.sign(request);
    },
  };
  const log = await logOver(store, { signer, groupSize: 5 });
  const results = await Promise.allSettled(
    Array.from({ length: 15 }, (_, number) => log.append(draftOf(number))),
  );
  const seqs = results.flatMap((one) => (one.status === "fulfilled" ? [one.value.seq] : []));
  expect(seqs).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(results.slice(5, 10).every((one) => one.status === "rejected")).toBe(true);
  await log.close();
});

test("a draft that cannot be an entry is refused alone, with a code, and takes no number", async () => {
  const store = memoryStore();
  const log = await logOver(store);
  const big = draftOf(1, { rule: "r".repeat(65_000) });
  const broken = draftOf(2, { run_id: "\ud800" });
  const fits = draftOf(3, { rule: "r".repeat(62_000) });
  const results = await Promise.allSettled([
    log.append(draftOf(0)),
    log.append(big),
    log.append(broken),
    log.append(fits),
  ]);
  expect(results[1]).toMatchObject({ reason: { code: "ERR_ENTRY_TOO_LARGE" } });
  expect(results[2]).toMatchObject({ reason: { code: "ERR_RECEIPT_MALFORMED" } });
  expect(results[3]).toMatchObject({ status: "fulfilled", value: { seq: 1 } });
  await log.close();
});

test("a draft that no reader would accept as an entry never gets into the log", async () => {
  const log = await logOver(memoryStore());
  const { receipt } = draftOf(0);
  const bad = [
    { receipt: { ...receipt, denial_reason: "but allowed" } },
    { receipt: { ...receipt, allowed: false } },
    { receipt: { ...receipt, payload_hash: "CD".repeat(32) } },
    { receipt: { ...receipt, classification: "admin" as never } },
    { receipt: { ...receipt, event_type: "unheard_of" as never } },
    { receipt: { ...receipt, transport: "web_socket" as never } },
    { direction: "sideways" as never },
    { mode: "off" as never },
    { emitted_hash: "short" },
    { received_at: -1 },
  ];
  for (const changes of bad) {
    await expect(log.append(draftOf(0, changes))).rejects.toMatchObject({
      code: "ERR_RECEIPT_MALFORMED",
    });
  }
  expect((await log.append(draftOf(0))).seq).toBe(0);
  await log.close();
});

test("the clock stamps drafts without a time, and closing signs a last checkpoint", async () => {
  const store = memoryStore();
  const log = await logOver(store, { clock: () => 42 });
  const { received_at: _unused, ...timeless } = draftOf(0);
  const { entry } = await log.append(timeless);
  expect(entry.received_at).toBe(42);
  const underWay = log.append(draftOf(1));
  await log.close();
  expect((await underWay).seq).toBe(1);
  expect(store.checkpoints.at(-1)).toMatch(/^unit\.example\/log\n2\n/);
  await expect(log.append(draftOf(2))).rejects.toMatchObject({ code: "ERR_LOG_CLOSED" });
});

test("checkpoints follow the log while it grows, and pause while it does not", async () => {
  const store = memoryStore();
  const log = await logOver(store, { checkpointInterval: 5 });
  // The timer may sign the empty log once before the first entry is stored.
  const sizes = (): number[] =>
    store.checkpoints.map((text) => Number(text.split("\n")[1])).filter((size) => size > 0);
  for (const expected of [[1], [1, 2]]) {
    await log.append(draftOf(expected.length));
    await vi.waitFor(() => expect(sizes()).toEqual(expected), { interval: 5 });
    // Several intervals without an append.
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(sizes()).toEqual(expected);
  }
  await log.close();
  expect(sizes()).toEqual([1, 2]);
});

test("a checkpoint that covers what others appended too is not signed again and again", async () => {
  const store = memoryStore();
  const log = await logOver(store, { checkpointInterval: 5 });
  const other = await logOver(store);
  await other.append(draftOf(0));
  await log.checkpoint();
  const { length } = store.checkpoints;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(store.checkpoints.length).toBe(length);
  await log.close();
  await other.close();
});

test("a log with a single writer signs its growth without reading tiles", async () => {
  const store = memoryStore();
  const readTile = vi.spyOn(store, "readTile");
  const log = await logOver(store);
  for (let round = 0; round < 5; round += 1) {
    const appends = [0, 1, 2].map((number) => log.append(draftOf(3 * round + number)));
    await Promise.all([log.checkpoint(), ...appends, log.checkpoint()]);
    store.fail = true;
    await expect(log.append(draftOf(99))).rejects.toThrow();
    store.fail = false;
  }
  await log.close();
  expect(store.checkpoints.at(-1)).toMatch(/^unit\.example\/log\n15\n/);
  expect(readTile).not.toHaveBeenCalled();
});

test("invalid options are a TypeError", async () => {
  await expect(logOver(memoryStore(), { maxQueue: -1 })).rejects.toThrow(TypeError);
});

test("after a failed write the next groups are signed with the right numbers beforehand", async () => {
  const store = memoryStore();
  const real = await createInThreadSigner(key);
  const firsts: number[] = [];
  const signer: GroupSigner = {
    ...real,
    signSmall(request) {
      firsts.push(request.first);
      return real.signSmall(request);
    },
  };
  const log = await logOver(store, { signer });
  await log.appendAll([draftOf(0), draftOf(1)]);
  store.fail = true;
  await expect(log.appendAll([draftOf(2), draftOf(3), draftOf(4)])).rejects.toThrow();
  store.fail = false;
  expect((await log.appendAll([draftOf(5)]))[0]?.seq).toBe(2);
  expect((await log.appendAll([draftOf(6)]))[0]?.seq).toBe(3);
  expect(firsts).toEqual([0, 2, 2, 3]);
  await log.close();
});
