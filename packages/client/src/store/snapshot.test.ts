import { expect, test, vi } from "vitest";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf } from "../testing/harness.js";

const { started, finished } = runOf(1);

async function streaming() {
  const harness = createHarness();
  let told = 0;
  const stop = harness.store.subscribe(() => {
    told += 1;
  });
  void harness.store.send("hello");
  await settle();
  harness.transport.last().send(started, { type: "TEXT_MESSAGE_START", messageId: "a" });
  await settle();
  harness.frame();
  told = 0;
  return { ...harness, stop, told: () => told };
}

function delta(text: string): object {
  return { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: text };
}

test("the snapshot is the same object until listeners are told", async () => {
  const { store, transport, frame } = await streaming();
  const before = store.getSnapshot();
  transport.last().send(delta("x"));
  await settle();
  expect(store.getSnapshot()).toBe(before);
  frame();
  const after = store.getSnapshot();
  expect(after).not.toBe(before);
  expect(store.getSnapshot()).toBe(after);
});

test("a thousand deltas between two frames are one notification", async () => {
  const { store, transport, frame, told, framesAsked } = await streaming();
  const asked = framesAsked();
  for (let index = 0; index < 1000; index++) transport.last().send(delta("x"));
  await settle();
  frame();
  expect(told()).toBe(1);
  expect(framesAsked() - asked).toBe(1);
  expect(store.getSnapshot().messages.at(-1)).toMatchObject({ content: "x".repeat(1000) });
});

test("the end of a run is told at once, with all that came before it", async () => {
  const { store, transport, told } = await streaming();
  transport.last().send(delta("x"), { type: "TEXT_MESSAGE_END", messageId: "a" }, finished);
  await settle();
  expect(told()).toBe(1);
  expect(store.getSnapshot()).toMatchObject({ status: "done" });
  expect(store.getSnapshot().messages.at(-1)).toMatchObject({ content: "x" });
});

test("what did not change keeps its identity", async () => {
  const { store, transport, frame } = await streaming();
  const before = store.getSnapshot();
  transport.last().send(delta("x"));
  await settle();
  frame();
  const after = store.getSnapshot();
  expect(after.messages[0]).toBe(before.messages[0]);
  expect(after.messages[1]).not.toBe(before.messages[1]);
  expect(after.state).toBe(before.state);
  expect(after.renderHints).toBe(before.renderHints);
});

test("events that change nothing notify no listener", async () => {
  const { store, transport, frame, told } = await streaming();
  const before = store.getSnapshot();
  transport.last().send({ type: "CUSTOM", name: "vendor.ping", value: 1 });
  await settle();
  frame();
  expect(told()).toBe(0);
  expect(store.getSnapshot()).toBe(before);
});

test("without listeners a snapshot is made when it is asked for", async () => {
  const { store, transport, stop, framesAsked } = await streaming();
  stop();
  const asked = framesAsked();
  transport.last().send(delta("y"));
  await settle();
  expect(framesAsked()).toBe(asked);
  const snapshot = store.getSnapshot();
  expect(snapshot.messages.at(-1)).toMatchObject({ content: "y" });
  expect(store.getSnapshot()).toBe(snapshot);
});

test("the server's snapshot stays the first one", async () => {
  const { store } = await streaming();
  expect(store.getServerSnapshot()).toMatchObject({ status: "idle", messages: [] });
  expect(store.getServerSnapshot()).toBe(store.getServerSnapshot());
});

test("a listener that throws hides nothing from the others and is reported", () => {
  const { store } = createHarness();
  const reports: (() => void)[] = [];
  const microtask = vi.spyOn(globalThis, "queueMicrotask");
  microtask.mockImplementation((report) => void reports.push(report));
  let told = 0;
  store.subscribe(() => {
    throw new Error("a broken component");
  });
  store.subscribe(() => {
    told += 1;
  });
  try {
    void store.send("hello");
  } finally {
    microtask.mockRestore();
  }
  expect(told).toBe(1);
  expect(reports).toHaveLength(1);
  expect(reports[0]).toThrow("a broken component");
});

test("one function subscribed twice is told twice and leaves one by one", () => {
  const { store } = createHarness();
  let told = 0;
  const listener = (): void => {
    told += 1;
  };
  const leave = store.subscribe(listener);
  store.subscribe(listener);
  leave();
  void store.send("hello");
  expect(told).toBe(1);
});
