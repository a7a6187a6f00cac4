import { expect, test } from "vitest";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";

const { started, finished } = runOf(1);

test("a stop hangs up at once where the transport knows no stop", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, ...textOf("a", "half"));
  await settle();
  store.stop();
  expect(store.getSnapshot().status).toBe("stopped");
  expect(transport.last().request.signal.aborted).toBe(true);
  transport.last().send(...textOf("b", "too late"), finished);
  const end = await ended;
  expect(end.status).toBe("stopped");
  expect(end.messages.at(-1)).toMatchObject({ content: "half" });
});

test("a stop that the agent hears lets it close what is open", async () => {
  const { store, transport } = createHarness({}, { canStop: true });
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  await settle();
  store.stop();
  store.stop();
  expect(store.getSnapshot().status).toBe("stopping");
  expect(transport.stops).toEqual(["run-1"]);
  transport.last().send({ ...finished, outcome: { type: "cancelled" } });
  expect((await ended).status).toBe("stopped");
});

test("an error that answers a stop is a stop, not a failure", async () => {
  const { store, transport } = createHarness({}, { canStop: true });
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  await settle();
  store.stop();
  transport.last().send({ type: "RUN_ERROR", message: "stopped", code: "STOPPED" });
  expect(await ended).toMatchObject({ status: "stopped", problem: undefined });
});

test("a run that finished before it heard the stop is done", async () => {
  const { store, transport } = createHarness({}, { canStop: true });
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  await settle();
  store.stop();
  transport.last().send(finished);
  expect((await ended).status).toBe("done");
});

test("an agent that ignores a stop is hung up on after the grace", async () => {
  const { store, transport, time } = createHarness({ stopGraceMs: 300 }, { canStop: true });
  const ended = store.send("hello");
  await settle();
  transport.last().send(started);
  await settle();
  store.stop();
  await time.advance(299);
  expect(store.getSnapshot().status).toBe("stopping");
  await time.advance(1);
  expect((await ended).status).toBe("stopped");
  expect(transport.last().request.signal.aborted).toBe(true);
});

test("a stop before the agent responds, and one without a run, send nothing", async () => {
  const { store, transport } = createHarness({}, { canStop: true });
  store.stop();
  expect(store.getSnapshot().status).toBe("idle");
  const ended = store.send("hello");
  store.stop();
  expect((await ended).status).toBe("stopped");
  expect(transport.stops).toEqual([]);
});

test("a stop while the stream is broken reaches an agent that may still be at work", async () => {
  const { store, transport } = createHarness({}, { canStop: true, resumable: true });
  const ended = store.send("hello");
  await settle();
  transport.last().sendAs("1", started);
  transport.last().end();
  await settle();
  expect(store.getSnapshot().status).toBe("reconnecting");
  store.stop();
  expect((await ended).status).toBe("stopped");
  expect(transport.stops).toEqual(["run-1"]);
});

test("a new run starts cleanly after a stop", async () => {
  const { store, transport } = createHarness();
  const first = store.send("hello");
  await settle();
  transport.last().send(started);
  await settle();
  store.stop();
  await first;
  const second = store.send("again");
  await settle();
  const next = runOf(2);
  transport.last().send(next.started, next.finished);
  expect(await second).toMatchObject({ status: "done", runId: "run-2" });
});
