import { isCountersignError } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import type { Message } from "../model/message.js";
import { createReducer, reduceEvents } from "./reducer.js";
import type { RunView } from "./view.js";

const started: AgUiEvent = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const finished: AgUiEvent = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const text = (messageId: string, delta: string): AgUiEvent => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId,
  delta,
});
const open = (messageId: string): AgUiEvent => ({ type: "TEXT_MESSAGE_START", messageId });
const call = (toolCallId: string, toolCallName = "f"): AgUiEvent => ({
  type: "TOOL_CALL_START",
  toolCallId,
  toolCallName,
});
const answer = (toolCallId: string, messageId: string): AgUiEvent => ({
  type: "TOOL_CALL_RESULT",
  toolCallId,
  messageId,
  content: "ok",
});

function limitOf(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return isCountersignError(error, "ERR_REDUCE_TOO_LARGE") ? error.facts.limit : error;
  }
}

test("a view is the same object until something changes", () => {
  const reducer = createReducer();
  reducer.push(started);
  const view = reducer.snapshot();
  expect(reducer.snapshot()).toBe(view);
  reducer.push({ type: "RAW", event: 1 });
  reducer.push({ type: "TEXT_MESSAGE_END", messageId: "unknown" });
  expect(reducer.snapshot()).toBe(view);
  reducer.push(open("a"));
  expect(reducer.snapshot()).not.toBe(view);
});

test("a view that was taken never changes, and a delta leaves every other part alone", () => {
  const reducer = createReducer({ state: { deep: {} } });
  for (const event of [started, open("a"), text("a", "x"), open("b"), call("c")])
    reducer.push(event);
  const before = reducer.snapshot();
  const copy = structuredClone(before);
  reducer.push(text("b", "y"));
  reducer.push({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" });
  const after = reducer.snapshot();
  expect(before).toEqual(copy);
  expect(after.messages[0]).toBe(before.messages[0]);
  expect(after.messages[1]).not.toBe(before.messages[1]);
  expect(after.state).toBe(before.state);
  expect(after.steps).toBe(before.steps);
  expect(after.pendingInterrupts).toBe(before.pendingInterrupts);
});

test("of several calls in one message only the growing one changes identity", () => {
  const reducer = createReducer();
  const child = (id: string): AgUiEvent => ({ ...call(id), parentMessageId: "p" }) as AgUiEvent;
  for (const event of [started, child("c1"), child("c2")]) reducer.push(event);
  const before = assistant(reducer.snapshot().messages[0]);
  reducer.push({ type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: "x" });
  const after = assistant(reducer.snapshot().messages[0]);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(before[1]?.function.arguments).toBe("");
});

function assistant(message: Message | undefined) {
  return message?.role === "assistant" ? (message.toolCalls ?? []) : [];
}

test("a snapshot that repeats the known keeps every identity", () => {
  const reducer = createReducer({ state: { a: [1, { b: 2 }] } });
  for (const event of [started, open("m"), text("m", "hello")]) reducer.push(event);
  const before = reducer.snapshot();
  reducer.push({ type: "MESSAGES_SNAPSHOT", messages: structuredClone([...before.messages]) });
  reducer.push({ type: "STATE_SNAPSHOT", snapshot: structuredClone(before.state) });
  expect(reducer.snapshot()).toBe(before);
  reducer.push({ type: "STATE_SNAPSHOT", snapshot: { a: [1, { b: 2 }], c: 1 } });
  const after = reducer.snapshot().state as { a: unknown };
  expect(after.a).toBe((before.state as { a: unknown }).a);
});

test("a hundred thousand deltas are one message; none of them copies the text so far", () => {
  const reducer = createReducer();
  reducer.push(started);
  reducer.push(open("a"));
  for (let count = 0; count < 100_000; count++) reducer.push(text("a", "word "));
  expect(reducer.snapshot().messages[0]?.content).toHaveLength(500_000);
});

test.each<[string, AgUiEvent[], Partial<RunView>]>([
  ["nothing yet", [], { status: "idle" }],
  ["a cut stream stays running", [started, open("a")], { status: "running" }],
  [
    "success",
    [started, { ...finished, result: 7 } as AgUiEvent],
    { status: "finished", result: 7 },
  ],
  [
    "interrupt",
    [
      started,
      {
        ...finished,
        outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "x" }] },
      } as AgUiEvent,
    ],
    { status: "interrupted", pendingInterrupts: [{ id: "i", reason: "x" }] },
  ],
  [
    "cancelled",
    [started, { ...finished, outcome: { type: "cancelled" } } as AgUiEvent],
    { status: "cancelled" },
  ],
  [
    "failed, even after success",
    [started, finished, { type: "RUN_ERROR", message: "m", code: "c" }],
    { status: "failed", error: { message: "m", code: "c" } },
  ],
  [
    "unanswered calls are pending",
    [started, call("c1"), call("c2"), answer("c1", "m"), finished],
    { status: "finished", pendingToolCallIds: ["c2"] },
  ],
  [
    "usage of the terminal event",
    [started, { ...finished, usage: [{ inputTokens: 3 }] } as AgUiEvent],
    { usage: [{ inputTokens: 3 }] },
  ],
])("status: %s", (_title, events, expected) => {
  expect(reduceEvents(events)).toMatchObject(expected);
});

test("steps and subagents of the run are listed with how they ended, and a new run starts empty", () => {
  const events: AgUiEvent[] = [
    started,
    { type: "STEP_STARTED", stepName: "a" },
    { type: "STEP_STARTED", stepName: "a", subagentRunId: "s" },
    { type: "STEP_FINISHED", stepName: "a" },
    { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" },
    { type: "SUBAGENT_STARTED", subagentRunId: "u", name: "other", parentSubagentRunId: "s" },
    { type: "SUBAGENT_ERROR", subagentRunId: "s", message: "lost" },
    { type: "SUBAGENT_FINISHED", subagentRunId: "u", outcome: { type: "suspended" } },
  ];
  const view = reduceEvents(events);
  expect(view.steps).toEqual([
    { name: "a", status: "finished" },
    { name: "a", subagentRunId: "s", status: "running" },
  ]);
  expect(view.subagents).toEqual([
    { id: "s", name: "helper", status: "failed", error: { message: "lost" } },
    { id: "u", name: "other", parentSubagentRunId: "s", status: "suspended" },
  ]);
  expect(reduceEvents([...events, started])).toMatchObject({ steps: [], subagents: [] });
});

test("pending interrupts survive the next start and an error, and end with the next finish", () => {
  const interrupts = [{ id: "i", reason: "x" }];
  const initial = { pendingInterrupts: interrupts };
  expect(reduceEvents([started], initial).pendingInterrupts).toBe(interrupts);
  expect(
    reduceEvents([started, { type: "RUN_ERROR", message: "m" }], initial).pendingInterrupts,
  ).toBe(interrupts);
  expect(reduceEvents([started, finished], initial).pendingInterrupts).toEqual([]);
});

test("difference R1: a patch may not turn an activity's content into something else than an object", () => {
  const view = reduceEvents([
    started,
    { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "plan", content: { x: 1 } },
    {
      type: "ACTIVITY_DELTA",
      messageId: "a",
      activityType: "form",
      patch: [{ op: "replace", path: "", value: 5 }],
    },
  ]);
  expect(view.messages).toEqual([
    { id: "a", role: "activity", activityType: "plan", content: { x: 1 } },
  ]);
});

test("difference R2: an absent initial state is an empty object, so the first patch has a place", () => {
  const delta: AgUiEvent = { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 1 }] };
  expect(reduceEvents([started, delta]).state).toEqual({ a: 1 });
});

test("metadata is merged key by key into the tool call, and own keys of any name are data", () => {
  const metadata = JSON.parse('{"__proto__":{"x":1},"k":1}') as Record<string, never>;
  const view = reduceEvents([
    started,
    { ...call("c"), metadata } as AgUiEvent,
    { type: "TOOL_CALL_END", toolCallId: "c", metadata: { k: 2 } },
  ]);
  const merged = assistant(view.messages[0])[0]?.metadata ?? {};
  expect(Object.keys(merged)).toEqual(["__proto__", "k"]);
  expect(merged["k"]).toBe(2);
  expect({}).not.toHaveProperty("x");
});

test("messages are bounded: the limit passes, one more is refused, and the reducer is dead", () => {
  const reducer = createReducer({}, { maxMessages: 2 });
  for (const event of [started, open("a"), open("b")]) reducer.push(event);
  expect(limitOf(() => reducer.push(open("c")))).toBe("maxMessages");
  expect(limitOf(() => reducer.push(finished))).toBe("maxMessages");
});

test("characters are bounded, drip-fed too, and a snapshot that shrinks the conversation gives room", () => {
  const reducer = createReducer({}, { maxCharacters: 1000 });
  const drip = (times: number): void => {
    for (let count = 0; count < times; count++) reducer.push(text("a", "x"));
  };
  reducer.push(started);
  reducer.push(open("a"));
  drip(900);
  reducer.push({
    type: "MESSAGES_SNAPSHOT",
    messages: [{ id: "a", role: "assistant", content: "" }],
  });
  expect(limitOf(() => drip(900))).toBeUndefined();
  expect(limitOf(() => drip(100))).toBe("maxCharacters");
});

test("metadata keys, tool calls and steps are bounded", () => {
  const reducer = createReducer({}, { maxMetadataKeys: 3 });
  const tag = (key: string): AgUiEvent => ({ ...text("a", ""), metadata: { [key]: 1 } });
  for (const event of [started, open("a"), tag("1"), tag("2"), tag("3"), tag("3")])
    reducer.push(event);
  expect(limitOf(() => reducer.push(tag("4")))).toBe("maxMetadataKeys");
  const step = (stepName: string): AgUiEvent => ({ type: "STEP_STARTED", stepName });
  const two = { maxUnits: 2 };
  expect(limitOf(() => reduceEvents([started, step("1"), step("2")], {}, two))).toBeUndefined();
  expect(limitOf(() => reduceEvents([started, step("1"), step("2"), step("3")], {}, two))).toBe(
    "maxUnits",
  );
  expect(limitOf(() => reduceEvents([started, call("1"), call("2"), call("3")], {}, two))).toBe(
    "maxUnits",
  );
});

test("a long socket of many runs gives back what each run held for itself", () => {
  const reducer = createReducer({}, { maxCharacters: 2000 });
  for (let run = 0; run < 1000; run++) {
    reducer.push(started);
    reducer.push({ type: "STEP_STARTED", stepName: "step" });
    reducer.push(finished);
  }
  expect(reducer.snapshot().steps).toHaveLength(1);
});

test("an unexpanded chunk and a limit that is not a number are TypeErrors", () => {
  expect(() => reduceEvents([{ type: "TEXT_MESSAGE_CHUNK", messageId: "a" }])).toThrow(TypeError);
  expect(() => createReducer({}, { maxMessages: 0 })).toThrow(TypeError);
});
