import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { createUpgrader } from "../index.js";
import type { UpgradeOptions } from "../index.js";

function upgrade(stream: readonly JsonObject[], options: Partial<UpgradeOptions> = {}) {
  let count = 0;
  const upgrader = createUpgrader({
    dialect: "0.1.0",
    threadId: "thread",
    mintId: (kind) => `${kind}-${(count += 1)}`,
    ...options,
  });
  const results = stream.map((event) => upgrader.push(event));
  return {
    events: results.flatMap(({ events }) => events),
    rules: results.flatMap(({ notes }) => notes.map(({ rule }) => rule)),
  };
}

test("RUN_STARTED gains a thread, milliseconds and the declared version; agentId moves to metadata", () => {
  const started = {
    type: "RUN_STARTED",
    runId: "run_12345",
    agentId: "agent_crm",
    timestamp: 1_700_000_000,
  };
  expect(upgrade([started]).events).toEqual([
    {
      type: "RUN_STARTED",
      threadId: "thread",
      runId: "run_12345",
      protocolVersion: "1.0",
      timestamp: 1_700_000_000_000,
      metadata: { countersign: { agentId: "agent_crm" } },
    },
  ]);
});

test("the run that was asked for keeps its id, the agent's own id moves to metadata", () => {
  const { events, rules } = upgrade(
    [
      { type: "RUN_STARTED", runId: "theirs" },
      { type: "RUN_FINISHED", runId: "theirs" },
      { type: "RUN_STARTED", runId: "second" },
    ],
    { runId: "ours" },
  );
  expect(events).toMatchObject([
    { runId: "ours", metadata: { countersign: { agentRunId: "theirs" } } },
    { type: "RUN_FINISHED", runId: "ours" },
    { runId: "second" },
  ]);
  expect(rules).toContain("run-id-replaced");
});

test("a finish that names another run keeps that name for ordering to see", () => {
  const { events } = upgrade(
    [
      { type: "RUN_STARTED", runId: "a" },
      { type: "RUN_FINISHED", runId: "b" },
    ],
    { runId: "ours" },
  );
  expect(events[1]).toMatchObject({ type: "RUN_FINISHED", runId: "b" });
});

test("TEXT_MESSAGE_CHUNK keeps its message and speaks as the assistant", () => {
  expect(
    upgrade([{ type: "TEXT_MESSAGE_CHUNK", delta: "Hello ", messageId: "msg_abc123" }]).events,
  ).toEqual([
    { type: "TEXT_MESSAGE_CHUNK", messageId: "msg_abc123", role: "assistant", delta: "Hello " },
  ]);
});

test("chunks with only a delta share one minted message until another event comes between", () => {
  const { events, rules } = upgrade([
    { type: "TEXT_MESSAGE_CHUNK", delta: "a" },
    { type: "TEXT_MESSAGE_CHUNK", delta: "b" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolName: "n" },
    { type: "TEXT_MESSAGE_CHUNK", delta: "c" },
    { type: "TEXT_MESSAGE_CHUNK" },
  ]);
  const texts = events.filter(({ type }) => type === "TEXT_MESSAGE_CHUNK");
  expect(texts.map(({ messageId }) => messageId)).toEqual(["message-1", "message-1", "message-2"]);
  expect(rules).toEqual(["message-id-minted", "message-id-minted", "empty-chunk-dropped"]);
});

test("TOOL_CALL_START becomes START, ARGS and END", () => {
  const call = {
    type: "TOOL_CALL_START",
    toolCallId: "call_987",
    toolName: "search",
    args: { query: "Alice" },
  };
  expect(upgrade([call]).events).toEqual([
    { type: "TOOL_CALL_START", toolCallId: "call_987", toolCallName: "search" },
    { type: "TOOL_CALL_ARGS", toolCallId: "call_987", delta: '{"query":"Alice"}' },
    { type: "TOOL_CALL_END", toolCallId: "call_987" },
  ]);
});

test("TOOL_CALL_RESULT carries text or JSON text, and isError in metadata", () => {
  const { events } = upgrade([
    {
      type: "TOOL_CALL_RESULT",
      toolCallId: "c",
      result: { email: "a@example.com" },
      isError: false,
    },
    { type: "TOOL_CALL_RESULT", toolCallId: "d", result: "plain" },
    { type: "TOOL_CALL_RESULT", toolCallId: "e" },
  ]);
  expect(events).toEqual([
    {
      type: "TOOL_CALL_RESULT",
      messageId: "c:result",
      toolCallId: "c",
      content: '{"email":"a@example.com"}',
      role: "tool",
      metadata: { countersign: { isError: false, json: true } },
    },
    {
      type: "TOOL_CALL_RESULT",
      messageId: "d:result",
      toolCallId: "d",
      content: "plain",
      role: "tool",
    },
    { type: "TOOL_CALL_RESULT", messageId: "e:result", toolCallId: "e", content: "", role: "tool" },
  ]);
});

test("RUN_FINISHED with success carries its usage", () => {
  const { events } = upgrade([
    { type: "RUN_STARTED", runId: "r" },
    {
      type: "RUN_FINISHED",
      runId: "r",
      status: "success",
      usage: { input_tokens: 50, output_tokens: 100 },
    },
  ]);
  expect(events[1]).toEqual({
    type: "RUN_FINISHED",
    threadId: "thread",
    runId: "r",
    usage: [{ inputTokens: 50, outputTokens: 100 }],
  });
});

test("RUN_FINISHED with any other status is an error under that code", () => {
  const { events, rules } = upgrade([{ type: "RUN_FINISHED", status: "failed" }]);
  expect(events).toMatchObject([{ type: "RUN_ERROR", code: "failed" }]);
  expect(rules).toContain("status-is-error");
});

test("ERROR becomes RUN_ERROR and its details are dropped with a note", () => {
  const { events, rules } = upgrade([
    { type: "ERROR", code: "INTERNAL_ERROR", message: "Database connection failed", details: {} },
  ]);
  expect(events).toEqual([
    { type: "RUN_ERROR", message: "Database connection failed", code: "INTERNAL_ERROR" },
  ]);
  expect(rules).toEqual(["field-dropped"]);
});

test("UI_RENDER_HINT becomes a vendor CUSTOM event", () => {
  const { events } = upgrade([
    { type: "UI_RENDER_HINT", component: "StockChart", props: { symbol: "AAPL" } },
  ]);
  expect(events).toEqual([
    {
      type: "CUSTOM",
      name: "countersign.ui_render_hint",
      value: { component: "StockChart", props: { symbol: "AAPL" } },
    },
  ]);
});

test("the sample server's bare bodies give a stream with supplied ids and no call without a name", () => {
  const { events, rules } = upgrade([
    { type: "RUN_STARTED", runId: "r" },
    { type: "TEXT_MESSAGE_CHUNK", delta: "hi" },
    { type: "TOOL_CALL_START" },
    { type: "TOOL_CALL_RESULT" },
    { type: "UI_RENDER_HINT" },
    { type: "RUN_FINISHED" },
  ]);
  expect(events).toEqual([
    { type: "RUN_STARTED", threadId: "thread", runId: "r", protocolVersion: "1.0" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "message-1", role: "assistant", delta: "hi" },
    { type: "RUN_FINISHED", threadId: "thread", runId: "r" },
  ]);
  expect(rules).toEqual([
    "thread-id-supplied",
    "message-id-minted",
    "nameless-call-dropped",
    "orphan-result-dropped",
    "empty-hint-dropped",
    "run-id-supplied",
  ]);
});

test.each<[string, string]>([
  ["RUN_STARTED", "runId"],
  ["RUN_STARTED", "agentId"],
  ["RUN_STARTED", "timestamp"],
  ["TEXT_MESSAGE_CHUNK", "delta"],
  ["TEXT_MESSAGE_CHUNK", "messageId"],
  ["TOOL_CALL_START", "toolCallId"],
  ["TOOL_CALL_START", "toolName"],
  ["TOOL_CALL_START", "args"],
  ["TOOL_CALL_RESULT", "toolCallId"],
  ["TOOL_CALL_RESULT", "isError"],
  ["RUN_FINISHED", "runId"],
  ["RUN_FINISHED", "status"],
  ["RUN_FINISHED", "usage"],
  ["ERROR", "code"],
  ["ERROR", "message"],
  ["UI_RENDER_HINT", "component"],
])("%s with a list in %s is refused with the field's name", (type, field) => {
  expect(() => upgrade([{ type, [field]: ["secret"] }])).toThrow(
    expect.objectContaining({
      code: "ERR_DIALECT_FIELD",
      message: expect.not.stringContaining("secret"),
      facts: expect.objectContaining({ event: 1, type, field }),
    }),
  );
});

test.each([-1, 1e300])("timestamp %j is not a point in time and is refused", (timestamp) => {
  expect(() => upgrade([{ type: "RUN_STARTED", timestamp }])).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_FIELD" }),
  );
});

test.each([-1, 0.5, "5", 1e300])("a token count of %j is refused", (count) => {
  expect(() => upgrade([{ type: "RUN_FINISHED", usage: { input_tokens: count } }])).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_FIELD" }),
  );
});

test("an event of 1.0 on a 0.1.0 stream is refused, an unknown one is dropped", () => {
  expect(() => upgrade([{ type: "RUN_ERROR", message: "x" }])).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_MIXED", facts: { event: 1, dialect: "0.1.0" } }),
  );
  expect(() => upgrade([{}])).toThrow(expect.objectContaining({ code: "ERR_DIALECT_MIXED" }));
  expect(upgrade([{ type: "HEARTBEAT" }])).toEqual({
    events: [],
    rules: ["unknown-event-dropped"],
  });
});
