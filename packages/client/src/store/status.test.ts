import { CountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";

const { started, finished } = runOf(1);

test("a store is idle until it is asked for something", () => {
  const { store } = createHarness();
  expect(store.getSnapshot()).toMatchObject({ status: "idle", messages: [], state: {} });
});

test("a message is shown at once and the run goes from connecting over streaming to done", async () => {
  const { store, transport } = createHarness();
  const seen: string[] = [];
  store.subscribe(() => seen.push(store.getSnapshot().status));
  const ended = store.send("hello");
  expect(store.getSnapshot()).toMatchObject({
    status: "connecting",
    messages: [{ id: "message-1", role: "user", content: "hello" }],
  });
  await settle();
  expect(transport.last().request.input).toMatchObject({
    threadId: "thread",
    runId: "run-1",
    protocolVersion: "1.0",
    messages: [{ role: "user", content: "hello" }],
  });
  transport.last().send(started, ...textOf("a", "Hi", " there"));
  await settle();
  expect(store.getSnapshot().status).toBe("streaming");
  transport.last().send(finished);
  const end = await ended;
  expect(end).toMatchObject({ status: "done", runId: "run-1", problem: undefined });
  expect(end.messages.at(-1)).toMatchObject({ id: "a", role: "assistant", content: "Hi there" });
  expect(seen).toEqual(["connecting", "streaming", "done"]);
});

test("an agent's error is a failure with the agent's words", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, { type: "RUN_ERROR", message: "out of tokens", code: "QUOTA" });
  expect((await ended).problem).toEqual({
    code: "QUOTA",
    message: "out of tokens",
    source: "agent",
  });
});

test("a run that the agent cancelled is stopped, neither done nor failed", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, { ...finished, outcome: { type: "cancelled" } });
  expect((await ended).status).toBe("stopped");
});

test("a stream that ends before its run is a failure, not an end", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, ...textOf("a", "half"));
  transport.last().end();
  const end = await ended;
  expect(end).toMatchObject({ status: "failed", problem: { code: "ERR_CLIENT_TRUNCATED" } });
  expect(end.messages.at(-1)).toMatchObject({ content: "half" });
});

test("an error after the end takes the success back", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, finished);
  expect((await ended).status).toBe("done");
  transport.last().send({ type: "RUN_ERROR", message: "could not be saved" });
  await settle();
  expect(store.getSnapshot()).toMatchObject({
    status: "failed",
    problem: { code: "RUN_ERROR", source: "agent" },
  });
});

test("a connection that lingers after the run is hung up on", async () => {
  const { store, transport, time } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, finished);
  await ended;
  expect(transport.last().request.signal.aborted).toBe(false);
  await time.advance(1000);
  expect(transport.last().request.signal.aborted).toBe(true);
  expect(store.getSnapshot().status).toBe("done");
});

test("silence counts as a broken stream after the time that was set", async () => {
  const { store, transport, time } = createHarness({ idleMs: 5000 });
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  await time.advance(4999);
  transport.last().send();
  await time.advance(4999);
  expect(store.getSnapshot().status).toBe("streaming");
  await time.advance(1);
  expect((await ended).problem).toMatchObject({ code: "ERR_CLIENT_STALLED" });
});

test("only one run goes at a time", async () => {
  const { store } = createHarness();
  void store.send("one");
  await expect(store.send("two")).rejects.toMatchObject({ code: "ERR_CLIENT_RUN_ACTIVE" });
  await expect(store.retry()).rejects.toBeInstanceOf(CountersignError);
});

test("history, state and tools go up with the next run, activities do not", async () => {
  const tools = [{ name: "clock", description: "tells the time" }];
  const { store, transport } = createHarness({ tools, state: { theme: "dark" } });
  const first = store.send("one");
  await settle();
  transport
    .last()
    .send(
      started,
      ...textOf("a", "answer"),
      { type: "ACTIVITY_SNAPSHOT", messageId: "act", activityType: "plan", content: {} },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/step", value: 2 }] },
      finished,
    );
  await first;
  void store.send("two");
  await settle();
  const { input } = transport.last().request;
  expect(input.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(input.state).toEqual({ theme: "dark", step: 2 });
  expect(input.tools).toEqual(tools);
});

test("a retry asks the same as a new run and says nothing twice", async () => {
  const { store, transport } = createHarness();
  const first = store.send("hello");
  await settle();
  transport.last().end();
  expect((await first).status).toBe("failed");
  const second = store.retry();
  await settle();
  const { input } = transport.last().request;
  expect(input.runId).toBe("run-2");
  expect(input.messages).toHaveLength(1);
  const again = runOf(2);
  transport.last().send(again.started, again.finished);
  expect(await second).toMatchObject({ status: "done", problem: undefined });
});

test("a closed store hangs up and takes no more work", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  store.close();
  expect((await ended).status).toBe("stopped");
  expect(transport.last().request.signal.aborted).toBe(true);
  await expect(store.send("more")).rejects.toMatchObject({ code: "ERR_CLIENT_CLOSED" });
});

test("a message that cannot be sent is refused and leaves nothing behind", async () => {
  const { store, transport } = createHarness();
  const malformed = [{ type: "text", text: 1 }] as unknown as string;
  await expect(store.send(malformed)).rejects.toMatchObject({
    code: "ERR_ENFORCE_MALFORMED_VALUE",
  });
  expect(store.getSnapshot()).toMatchObject({ status: "idle", messages: [] });
  void store.send("hello");
  await settle();
  expect(transport.last().request.input.messages).toHaveLength(1);
});

test("a store without a transport is a mistake of its author", () => {
  expect(() => createHarness({ transport: {} as never })).toThrow(TypeError);
});
