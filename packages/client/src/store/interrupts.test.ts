import type { ResumeEntry } from "@countersign/wire";
import { expect, test } from "vitest";
import { settle } from "../testing/fake-time.js";
import type { Harness } from "../testing/harness.js";
import { createHarness, runOf } from "../testing/harness.js";

const { started, finished } = runOf(1);
const interrupts = [
  { id: "pay", reason: "confirmation", message: "Pay 20 euros?" },
  { id: "name", reason: "input_required", expiresAt: "2026-01-01T00:01:00Z" },
];

async function interrupted(): Promise<Harness> {
  const harness = createHarness();
  const ended = harness.store.send("hello");
  await settle();
  harness.transport.last().send(started, {
    ...finished,
    outcome: { type: "interrupt", interrupts },
  });
  await ended;
  return harness;
}

const answers: ResumeEntry[] = [
  { interruptId: "pay", status: "resolved", payload: { approved: true } },
  { interruptId: "name", status: "resolved", payload: "Ada" },
];

test("an interrupted run waits for the person and shows the questions", async () => {
  const { store } = await interrupted();
  expect(store.getSnapshot()).toMatchObject({ status: "waiting", interrupts });
});

test("answers go up as a new run of the same thread, which clears the questions", async () => {
  const { store, transport } = await interrupted();
  const ended = store.resume(answers);
  await settle();
  expect(transport.last().request.input).toMatchObject({
    threadId: "thread",
    runId: "run-2",
    resume: answers,
  });
  const next = runOf(2);
  transport.last().send(next.started, next.finished);
  expect(await ended).toMatchObject({ status: "done", interrupts: [] });
});

test.each([
  ["missing", answers.slice(0, 1)],
  ["repeated", [answers[0], answers[0], answers[1]]],
  ["unknown", [...answers, { interruptId: "other", status: "cancelled" }]],
])("answers with one %s are refused before anything is sent", async (reason, given) => {
  const { store, transport } = await interrupted();
  await expect(store.resume(given as ResumeEntry[])).rejects.toMatchObject({
    code: "ERR_CLIENT_INTERRUPTS",
    facts: { reason },
  });
  expect(transport.connections).toHaveLength(1);
  expect(store.getSnapshot().status).toBe("waiting");
});

test("an expired question can only be cancelled", async () => {
  const { store, transport, time } = await interrupted();
  await time.advance(60_000);
  await expect(store.resume(answers)).rejects.toMatchObject({ facts: { reason: "expired" } });
  void store.resume([answers[0] as ResumeEntry, { interruptId: "name", status: "cancelled" }]);
  await settle();
  expect(transport.connections).toHaveLength(2);
});

test("nothing else can be said while questions are open", async () => {
  const { store } = await interrupted();
  await expect(store.send("never mind")).rejects.toMatchObject({ facts: { reason: "open" } });
});

test("questions stay open when the run that should answer them fails", async () => {
  const { store, transport } = await interrupted();
  const ended = store.resume(answers);
  await settle();
  transport.last().end();
  expect(await ended).toMatchObject({ status: "failed", interrupts });
  void store.retry();
  await settle();
  expect(transport.last().request.input.resume).toEqual(answers);
});

test("calls of the application's own tools are answered by tool messages", async () => {
  const { store, transport } = createHarness();
  const first = store.send("what time is it?");
  await settle();
  transport
    .last()
    .send(
      started,
      { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "clock" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId: "c1" },
      { ...finished, outcome: { type: "success", pendingToolCallIds: ["c1"] } },
    );
  expect((await first).pendingToolCallIds).toEqual(["c1"]);
  await expect(store.answer([])).rejects.toMatchObject({ facts: { reason: "missing" } });
  const stranger = { toolCallId: "c2", content: "x" };
  await expect(store.answer([stranger])).rejects.toMatchObject({ facts: { reason: "unknown" } });
  const answer = { toolCallId: "c1", content: "noon" };
  await expect(store.answer([answer, answer])).rejects.toMatchObject({
    facts: { reason: "repeated" },
  });
  void store.answer([answer]);
  await settle();
  expect(transport.last().request.input.messages.at(-1)).toMatchObject({
    role: "tool",
    toolCallId: "c1",
    content: "noon",
  });
});

const CALL = [
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "clock" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
] as const;
const LISTED = {
  id: "m",
  role: "assistant",
  toolCalls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }],
} as const;
const ENDED = { type: "RUN_ERROR", message: "blocked" } as const;

test.each([
  ["a run that ended in an error", [...CALL, ENDED]],
  ["a run that only listed it", [{ type: "MESSAGES_SNAPSHOT", messages: [LISTED] }, finished]],
] as const)("a call of %s is answered, once", async (_, events) => {
  const { store, transport } = createHarness();
  const first = store.send("what time is it?");
  await settle();
  transport.last().send(started, ...(events as unknown as (typeof started)[]));
  await first;
  const answer = { toolCallId: "c1", content: "noon" };
  void store.answer([answer]);
  await settle();
  expect(transport.last().request.input.messages.at(-1)).toMatchObject({
    role: "tool",
    toolCallId: "c1",
  });
  const second = runOf(2);
  transport.last().send(second.started, second.finished);
  await settle();
  await expect(store.answer([answer])).rejects.toMatchObject({ facts: { reason: "unknown" } });
});

test("a request declares the version that defines what is in it", async () => {
  const sealed = { id: "a", role: "assistant", content: "x", encryptedValue: "v" } as const;
  for (const [messages, version] of [
    [[sealed], "1.0"],
    [[{ ...sealed, encryptedValueType: "t" }], "1.1"],
  ] as const) {
    const { store, transport } = createHarness({ messages: [...messages] });
    void store.send("go on");
    await settle();
    expect(transport.last().request.input.protocolVersion).toBe(version);
  }
});
