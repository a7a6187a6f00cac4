import type { JsonObject, JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { RunAgentInput } from "../model/input.js";
import { downgradeInput, upgradeInput } from "./index.js";

const mintId = (kind: string): string => `${kind}-1`;

test("a 0.1.0 request becomes an input with one user message", () => {
  const { input, notes } = upgradeInput({ message: "hi", extra: 1 }, { dialect: "auto", mintId });
  expect(input).toEqual({
    threadId: "thread-1",
    runId: "run-1",
    protocolVersion: "1.0",
    messages: [{ id: "message-1", role: "user", content: "hi" }],
  });
  expect(notes.map(({ rule, path }) => `${rule} ${path}`.trim())).toEqual([
    "field-dropped /extra",
    "thread-id-supplied",
    "run-id-supplied",
  ]);
  const named = upgradeInput(
    { message: "hi" },
    { dialect: "0.1.0", threadId: "t", runId: "r", mintId },
  );
  expect(named.input).toMatchObject({ threadId: "t", runId: "r" });
});

test("an input in snake_case is read at protocol places, its properties stay whole", () => {
  const { input } = upgradeInput(
    {
      thread_id: "t",
      run_id: "r",
      forwarded_props: { user_id: "u", thread_id: "data" },
      state: { run_id: "data" },
      messages: [
        {
          id: "m",
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "n", arguments: "{}" } }],
        },
        {
          id: "u",
          role: "user",
          content: [{ type: "binary", mime_type: "image/png", data: "AA==" }],
        },
      ],
      resume: [{ interrupt_id: "i", status: "resolved" }],
    },
    { dialect: "auto", mintId },
  );
  expect(input).toEqual({
    threadId: "t",
    runId: "r",
    forwardedProps: { user_id: "u", thread_id: "data" },
    state: { run_id: "data" },
    messages: [
      {
        id: "m",
        role: "assistant",
        toolCalls: [{ id: "c", type: "function", function: { name: "n", arguments: "{}" } }],
      },
      {
        id: "u",
        role: "user",
        content: [
          { type: "image", source: { type: "data", value: "AA==", mimeType: "image/png" } },
        ],
      },
    ],
    resume: [{ interruptId: "i", status: "resolved" }],
  });
});

test("a request that spells forwardedProps twice is refused", () => {
  const body = {
    threadId: "t",
    runId: "r",
    messages: [],
    forwardedProps: {},
    forwarded_props: { admin: true },
  };
  expect(() => upgradeInput(body, { dialect: "auto", mintId })).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_DOUBLE_SPELLING" }),
  );
});

test("an input that declares its version is taken at its word", () => {
  const body = {
    threadId: "t",
    runId: "r",
    messages: [],
    protocolVersion: "1.0",
    parent_run_id: "p",
  };
  expect(upgradeInput(body, { dialect: "auto", mintId })).toEqual({ input: body, notes: [] });
});

test.each<[JsonValue, string]>([
  [[], "body"],
  ["hi", "body"],
  [null, "body"],
  [{ message: 5 }, "message"],
  [{ message: ["secret"] }, "message"],
])("the request %j is refused under its field", (body, field) => {
  expect(() => upgradeInput(body, { dialect: "auto", mintId })).toThrow(
    expect.objectContaining({
      code: "ERR_DIALECT_REQUEST",
      facts: expect.objectContaining({ field }),
      message: expect.not.stringContaining("secret"),
    }),
  );
});

test("a 0.1.0 agent is asked with the last user message, and what it cannot see is noted", () => {
  const input: RunAgentInput = {
    threadId: "t",
    runId: "r",
    messages: [
      { id: "a", role: "assistant", content: "before" },
      { id: "b", role: "user", content: [{ type: "text", text: "now" }] },
    ],
    tools: [],
  };
  const { body, notes } = downgradeInput(input, "0.1.0");
  expect(body).toEqual({ message: "now" });
  expect(notes.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    "history-dropped /messages",
    "field-dropped /threadId",
    "field-dropped /runId",
    "field-dropped /tools",
    "parts-flattened /messages/1/content",
  ]);
});

test("an input without a closing user message cannot be asked of a 0.1.0 agent", () => {
  for (const messages of [[], [{ id: "t", role: "tool", toolCallId: "c", content: "x" }]]) {
    const input = { threadId: "t", runId: "r", messages } as unknown as RunAgentInput;
    expect(() => downgradeInput(input, "0.1.0")).toThrow(
      expect.objectContaining({ code: "ERR_DIALECT_REQUEST" }),
    );
  }
});

test("an older agent gets every member it requires, and what the client said stays", () => {
  const input: RunAgentInput = { threadId: "t", runId: "r", messages: [] };
  expect(downgradeInput(input, "0.0.55").body).toEqual({
    ...input,
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
  } as JsonObject);
  const said = { ...input, state: null, forwardedProps: { a: 1 } };
  expect(downgradeInput(said, "0.0.59").body).toMatchObject({
    state: null,
    forwardedProps: { a: 1 },
  });
});

test("what an older agent's schema does not have leaves its input with a note", () => {
  const input: RunAgentInput = {
    threadId: "t",
    runId: "r",
    protocolVersion: "1.0",
    messages: [
      {
        id: "u",
        role: "user",
        subagentRunId: "s",
        content: [{ type: "text", text: "x", id: "p", metadata: { a: 1 } }],
      },
    ],
  };
  const { body, notes } = downgradeInput(input, "0.0.55");
  expect(body["messages"]).toEqual([
    { id: "u", role: "user", content: [{ type: "text", text: "x" }] },
  ]);
  expect(notes.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    "field-dropped /protocolVersion",
    "field-dropped /messages/0/subagentRunId",
    "field-dropped /messages/0/content/0/id",
    "field-dropped /messages/0/content/0/metadata",
  ]);
});
