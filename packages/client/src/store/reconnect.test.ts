import { CountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import "../base/errors.js";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";
import { backOffDelay } from "./back-off.js";

const { started, finished } = runOf(1);
const fast = { reconnect: { attempts: 3, baseMs: 100, maxMs: 1000 } };

function refusal(facts: { notStarted: boolean; status?: number; retryAfter?: number }) {
  return new CountersignError("ERR_CLIENT_CONNECT", "no", { transport: "scripted", ...facts });
}

test("a refusal that began nothing is tried again, with growing waits, as the same run", async () => {
  const refusals = [refusal({ notStarted: true }), refusal({ notStarted: true, status: 503 })];
  const { store, transport, time } = createHarness(fast, { refusals });
  const ended = store.send("hello");
  await settle();
  expect(store.getSnapshot().status).toBe("reconnecting");
  await time.advance(100);
  await time.advance(200);
  expect(transport.connections.map(({ request }) => request.input.runId)).toEqual([
    "run-1",
    "run-1",
    "run-1",
  ]);
  transport.last().send(started, finished);
  expect((await ended).status).toBe("done");
});

test("a refusal that may have begun a run is never repeated by itself", async () => {
  const { store, transport } = createHarness(fast, { refusals: [refusal({ notStarted: false })] });
  const end = await store.send("hello");
  expect(end).toMatchObject({ status: "failed", problem: { code: "ERR_CLIENT_CONNECT" } });
  expect(transport.connections).toHaveLength(1);
});

test("attempts are bounded", async () => {
  const refusals = Array.from({ length: 9 }, () => refusal({ notStarted: true }));
  const { store, transport, time } = createHarness(fast, { refusals });
  const ended = store.send("hello");
  for (let turn = 0; turn < 6; turn++) await time.advance(1000);
  expect((await ended).problem).toMatchObject({ code: "ERR_CLIENT_CONNECT" });
  expect(transport.connections).toHaveLength(4);
});

test("the wait that a server asks for is kept", async () => {
  const refusals = [refusal({ notStarted: true, status: 429, retryAfter: 7000 })];
  const { store, transport, time } = createHarness(fast, { refusals });
  void store.send("hello");
  await time.advance(6999);
  expect(transport.connections).toHaveLength(1);
  await time.advance(1);
  expect(transport.connections).toHaveLength(2);
});

test("a broken stream resumes at the last id where the transport may resume", async () => {
  const { store, transport, time } = createHarness(fast, { resumable: true });
  const ended = store.send("hello");
  await settle();
  const [open, content, close] = textOf("a", "one ");
  transport.last().sendAs("1", started);
  transport.last().sendAs("2", open as object);
  transport.last().sendAs("3", content as object);
  transport.last().end();
  await settle();
  expect(store.getSnapshot().status).toBe("reconnecting");
  await time.advance(100);
  expect(transport.last().request.lastEventId).toBe("3");
  transport.last().send({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "two" });
  await settle();
  expect(store.getSnapshot().status).toBe("streaming");
  transport.last().send(close as object, finished);
  const end = await ended;
  expect(end.status).toBe("done");
  expect(end.messages.at(-1)).toMatchObject({ content: "one two" });
});

test("a server that tells the run anew after a break repeats nothing on the screen", async () => {
  const { store, transport, time } = createHarness(fast, { resumable: true });
  const ended = store.send("hello");
  await settle();
  const hint = { type: "CUSTOM", name: "countersign.ui_render_hint", value: { component: "Map" } };
  transport.last().sendAs("1", started);
  transport.last().send(hint, ...textOf("a", "whole"));
  transport.last().end();
  await time.advance(100);
  transport.last().send(started, hint, ...textOf("a", "whole"), finished);
  const end = await ended;
  expect(end.messages.map(({ content }) => content)).toEqual(["hello", "whole"]);
  expect(end.renderHints).toHaveLength(1);
});

test("a broken stream without ids is not asked for again", async () => {
  const { store, transport } = createHarness(fast, { resumable: true });
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  transport.last().end();
  expect((await ended).problem).toMatchObject({ code: "ERR_CLIENT_TRUNCATED" });
  expect(transport.connections).toHaveLength(1);
});

test("a server that no longer has the stream ends the attempts", async () => {
  const refusals: unknown[] = [];
  const { store, transport, time } = createHarness(fast, { resumable: true, refusals });
  const ended = store.send("hello");
  await settle();
  transport.last().sendAs("1", started);
  refusals.push(refusal({ notStarted: false, status: 204 }));
  transport.last().end();
  await time.advance(100);
  expect((await ended).status).toBe("failed");
  expect(transport.connections).toHaveLength(2);
});

test("progress gives the attempts back", async () => {
  const { store, transport, time } = createHarness(fast, { resumable: true });
  const ended = store.send("hello");
  await settle();
  transport.last().sendAs("0", started);
  for (let turn = 1; turn <= 6; turn++) {
    transport.last().sendAs(`${turn}`, { type: "CUSTOM", name: "x.y", value: turn });
    transport.last().end();
    await time.advance(1000);
  }
  transport.last().send(finished);
  expect((await ended).status).toBe("done");
});

test("a transport that comes back by itself is shown to do so", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  transport.last().lose();
  await settle();
  expect(store.getSnapshot().status).toBe("reconnecting");
  transport.last().send(...textOf("a", "on"), finished);
  expect((await ended).status).toBe("done");
});

test("a transport that comes back by itself after the end is hung up on, or it would run the agent again", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, finished);
  await ended;
  transport.last().lose();
  await settle();
  expect(transport.last().request.signal.aborted).toBe(true);
  expect(store.getSnapshot().status).toBe("done");
});

test("a stop ends the waiting for a new attempt", async () => {
  const { store, time } = createHarness(fast, { refusals: [refusal({ notStarted: true })] });
  const ended = store.send("hello");
  await settle();
  store.stop();
  expect((await ended).status).toBe("stopped");
  await time.advance(10_000);
  expect(store.getSnapshot().status).toBe("stopped");
});

test("no reconnection where it was switched off", async () => {
  const refusals = [refusal({ notStarted: true })];
  const { store, transport } = createHarness({ reconnect: false }, { refusals });
  expect((await store.send("hello")).status).toBe("failed");
  expect(transport.connections).toHaveLength(1);
});

test("waits double, are spread by chance and have a ceiling", () => {
  const backOff = { attempts: 9, baseMs: 100, maxMs: 1000 };
  const waits = (random: number) =>
    [1, 2, 3, 4, 5].map((n) => backOffDelay(backOff, n, () => random));
  expect(waits(1)).toEqual([100, 200, 400, 800, 1000]);
  expect(waits(0)).toEqual([50, 100, 200, 400, 500]);
  expect(backOffDelay(backOff, 1, () => 1, 5000)).toBe(5000);
  expect(backOffDelay(backOff, 1, () => 1, 9e9)).toBe(60_000);
});
