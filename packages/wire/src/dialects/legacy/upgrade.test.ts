import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import { arbitraryEvent } from "../../testing/arbitraries.js";
import * as fc from "fast-check";
import { createUpgrader } from "../index.js";
import type { Upgrader } from "../index.js";

function legacy(dialect: "0.0" | "1.0" | "auto" = "0.0"): Upgrader {
  let count = 0;
  return createUpgrader({ dialect, mintId: (kind) => `${kind}-${(count += 1)}` });
}

function upgradeOne(event: JsonObject, dialect: "0.0" | "1.0" | "auto" = "0.0") {
  const { events, notes } = legacy(dialect).push(event);
  return { event: events[0], rules: notes.map(({ rule, path }) => `${rule} ${path}`.trim()) };
}

test("thinking events become reasoning events that share minted ids, and the lost title is noted", () => {
  const upgrader = legacy();
  const pushed = [
    { type: "THINKING_START", title: "plan", timestamp: 1 },
    { type: "THINKING_TEXT_MESSAGE_START" },
    { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "a" },
    { type: "THINKING_TEXT_MESSAGE_END" },
    { type: "THINKING_END" },
  ].map((event) => upgrader.push(event));
  expect(pushed.flatMap(({ events }) => events)).toEqual([
    { type: "REASONING_START", messageId: "message-1", timestamp: 1 },
    { type: "REASONING_MESSAGE_START", messageId: "message-2", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "message-2", delta: "a" },
    { type: "REASONING_MESSAGE_END", messageId: "message-2" },
    { type: "REASONING_END", messageId: "message-1" },
  ]);
  expect(pushed[0]?.notes.map(({ rule }) => rule)).toEqual([
    "thinking-translated",
    "thinking-title-lost",
  ]);
  expect(JSON.stringify(pushed[0]?.notes)).not.toContain("plan");
});

test.each(["THINKING_END", "THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END"])(
  "%s without its opener is refused instead of naming an invented id",
  (type) => {
    expect(() => legacy().push({ type, delta: "x" })).toThrow(
      expect.objectContaining({ code: "ERR_DIALECT_THINKING_NOT_OPEN", facts: { event: 1, type } }),
    );
  },
);

test("a new run forgets the thinking of the one before", () => {
  const upgrader = legacy();
  upgrader.push({ type: "THINKING_START" });
  upgrader.push({ type: "RUN_STARTED", threadId: "t", runId: "r" });
  expect(() => upgrader.push({ type: "THINKING_END" })).toThrow("never started");
});

test.each<[JsonObject, string]>([
  [{ type: "RAW", event: 1, rawEvent: null }, "rawEvent"],
  [{ type: "RUN_FINISHED", threadId: "t", runId: "r", result: null }, "result"],
  [{ type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: null }, "outcome"],
  [{ type: "SUBAGENT_FINISHED", subagentRunId: "s", result: null }, "result"],
  [
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n", parentMessageId: null },
    "parentMessageId",
  ],
  [{ type: "TOOL_CALL_CHUNK", toolCallId: "c", parentMessageId: null }, "parentMessageId"],
])("the null that 1.0 still forgives is absent in every native dialect: %j", (event, field) => {
  for (const dialect of ["0.0", "1.0", "auto"] as const) {
    const { event: result, rules } = upgradeOne(event, dialect);
    expect(result).toEqual(
      Object.fromEntries(Object.entries(event).filter(([key]) => key !== field)),
    );
    expect(rules).toEqual([`null-absent /${field}`]);
  }
});

test("nulls inside the echoed input are absent, nulls inside open data stay", () => {
  const { event, rules } = upgradeOne(
    {
      type: "RUN_STARTED",
      threadId: "t",
      runId: "r",
      input: {
        threadId: "t",
        runId: "r",
        state: { a: null },
        forwardedProps: null,
        tools: [{ name: "n", description: "d", parameters: null }],
        resume: [{ interruptId: "i", status: "resolved", payload: null }],
        messages: [
          {
            id: "m",
            role: "user",
            content: [{ type: "image", source: { type: "url", value: "u" }, metadata: null }],
          },
        ],
      },
    },
    "1.0",
  );
  expect(event).toEqual({
    type: "RUN_STARTED",
    threadId: "t",
    runId: "r",
    input: {
      threadId: "t",
      runId: "r",
      state: { a: null },
      tools: [{ name: "n", description: "d" }],
      resume: [{ interruptId: "i", status: "resolved" }],
      messages: [
        {
          id: "m",
          role: "user",
          content: [{ type: "image", source: { type: "url", value: "u" } }],
        },
      ],
    },
  });
  expect(rules).toHaveLength(4);
});

test.each<JsonObject>([
  { type: "RUN_ERROR", message: "m", code: null },
  { type: "TEXT_MESSAGE_START", messageId: "m", name: null },
  { type: "STEP_STARTED", stepName: "s", timestamp: null },
  { type: "RUN_STARTED", threadId: "t", runId: "r", parentRunId: null },
])("a null that only old producers send stays for enforcement on a 1.0 stream: %j", (event) => {
  expect(upgradeOne(event, "1.0")).toEqual({ event, rules: [] });
  expect(upgradeOne(event, "0.0").rules).toHaveLength(1);
  expect(Object.values(upgradeOne(event, "0.0").event ?? {})).not.toContain(null);
});

test.each<JsonObject>([
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", subagentRunId: null },
  { type: "RUN_ERROR", message: null },
  { type: "TEXT_MESSAGE_START", messageId: "m", metadata: null },
  { type: "MESSAGES_SNAPSHOT", messages: [{ id: "m", role: "user", content: null }] },
])("a null that no producer was ever forgiven is left alone: %j", (event) => {
  expect(upgradeOne(event)).toEqual({ event, rules: [] });
});

test("an assistant message without content may say so with null", () => {
  const message = { id: "m", role: "assistant", content: null, toolCalls: null };
  expect(upgradeOne({ type: "MESSAGES_SNAPSHOT", messages: [message] }).event).toEqual({
    type: "MESSAGES_SNAPSHOT",
    messages: [{ id: "m", role: "assistant" }],
  });
});

test("snake_case is read at the places the protocol defines and nowhere else", () => {
  const { event, rules } = upgradeOne({
    type: "RUN_STARTED",
    thread_id: "t",
    run_id: "r",
    raw_event: { thread_id: "data" },
    metadata: { run_id: "data" },
    input: {
      thread_id: "t",
      run_id: "r",
      forwarded_props: { tool_call_id: "data" },
      messages: [{ id: "m", role: "tool", tool_call_id: "c", content: "x" }],
    },
  });
  expect(event).toEqual({
    type: "RUN_STARTED",
    threadId: "t",
    runId: "r",
    rawEvent: { thread_id: "data" },
    metadata: { run_id: "data" },
    input: {
      threadId: "t",
      runId: "r",
      forwardedProps: { tool_call_id: "data" },
      messages: [{ id: "m", role: "tool", toolCallId: "c", content: "x" }],
    },
  });
  expect(rules).toContain("snake-case /input/messages/0/tool_call_id");
});

test("snake_case stays unknown on a stream that declares 1.0", () => {
  const event = { type: "TEXT_MESSAGE_END", message_id: "m" };
  expect(upgradeOne(event, "1.0")).toEqual({ event, rules: [] });
});

test.each<[JsonObject, string]>([
  [{ type: "TEXT_MESSAGE_END", message_id: "a", messageId: "b" }, "/messageId"],
  [
    {
      type: "RUN_STARTED",
      threadId: "t",
      runId: "r",
      input: { forwarded_props: 1, forwardedProps: 2 },
    },
    "/input/forwardedProps",
  ],
])("a field spelled both ways is refused: %j", (event, path) => {
  expect(() => legacy().push(event)).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_DOUBLE_SPELLING", facts: { event: 1, path } }),
  );
});

test.each<[JsonObject[], JsonObject[], string]>([
  [
    [{ type: "binary", mimeType: "image/png", data: "AA==", filename: "a.png" }],
    [
      {
        type: "image",
        source: { type: "data", value: "AA==", mimeType: "image/png" },
        metadata: { filename: "a.png" },
      },
    ],
    "binary-part-upgraded",
  ],
  [
    [{ type: "binary", mime_type: "application/pdf", url: "https://e.test/a" }],
    [
      {
        type: "document",
        source: { type: "url", value: "https://e.test/a", mimeType: "application/pdf" },
      },
    ],
    "binary-part-upgraded",
  ],
  [[{ type: "binary", mimeType: "audio/wav", id: "f1" }], [], "binary-part-removed"],
  [
    [{ type: "binary", mimeType: "imagex", data: "AA==" }],
    [{ type: "document", source: { type: "data", value: "AA==", mimeType: "imagex" } }],
    "binary-part-upgraded",
  ],
  [
    [
      { type: "binary", mimeType: "image/png", data: "AA==" },
      { type: "image", source: { type: "data", value: "AA==", mimeType: "image/png" } },
    ],
    [{ type: "image", source: { type: "data", value: "AA==", mimeType: "image/png" } }],
    "binary-part-mirrored",
  ],
])("a binary part becomes typed media or leaves: %j", (before, after, rule) => {
  const snapshot = (content: JsonObject[]): JsonObject => ({
    type: "MESSAGES_SNAPSHOT",
    messages: [{ id: "m", role: "user", content }],
  });
  const { event, rules } = upgradeOne(snapshot(before));
  expect(event).toEqual(snapshot(after));
  expect(rules.some((note) => note.startsWith(rule))).toBe(true);
});

test.each<[unknown, number | undefined]>([
  [1_700_000_000.25, 1_700_000_000_250],
  [1_700_000_000_123.9, 1_700_000_000_123],
  ["2023-11-14T22:13:20Z", 1_700_000_000_000],
  ["2023-11-14T23:13:20.5+01:00", 1_700_000_000_500],
  ["2023-11-14T22:13:20.123456", undefined],
  [1_700_000_000, 1_700_000_000],
])("timestamp %j is read as %j", (timestamp, expected) => {
  const { event } = upgradeOne({ type: "STEP_STARTED", stepName: "s", timestamp } as JsonObject);
  expect(event).toEqual({
    type: "STEP_STARTED",
    stepName: "s",
    ...(expected === undefined ? {} : { timestamp: expected }),
  });
});

test.each(["1700000000", "yesterday", true, -0.5, 1e300])(
  "timestamp %j has no translation and is left for enforcement",
  (timestamp) => {
    const event = { type: "STEP_STARTED", stepName: "s", timestamp };
    expect(upgradeOne(event)).toEqual({ event, rules: [] });
  },
);

test.each<[unknown, unknown]>([
  [{ a: 1 }, '{"a":1}'],
  [null, ""],
  ["text", "text"],
  [[{ type: "text", text: "t" }], [{ type: "text", text: "t" }]],
  [5, 5],
])("tool content %j is read as %j", (content, expected) => {
  const event = {
    type: "TOOL_CALL_RESULT",
    messageId: "m",
    toolCallId: "c",
    content,
  } as JsonObject;
  expect(upgradeOne(event).event).toEqual({ ...event, content: expected });
});

test("a valid 1.0 event comes back as the same object, unnoted, in every native dialect", () => {
  fc.assert(
    fc.property(arbitraryEvent(), (event) => {
      for (const dialect of ["1.0", "0.0"] as const) {
        const { events, notes } = legacy(dialect).push(event as unknown as JsonObject);
        expect(events[0]).toBe(event);
        expect(notes).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});
