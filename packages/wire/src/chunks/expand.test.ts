import { isCountersignError } from "@countersign/core";
import type { ErrorCode } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import { createChunkExpander } from "./expand.js";

function expand(...events: AgUiEvent[]): AgUiEvent[] {
  const expander = createChunkExpander();
  return events.flatMap((event) => expander.push(event));
}

function codeOf(action: () => unknown): ErrorCode | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return isCountersignError(error) ? error.code : undefined;
  }
}

const text = (fields: object): AgUiEvent => ({ type: "TEXT_MESSAGE_CHUNK", ...fields });
const tool = (fields: object): AgUiEvent => ({ type: "TOOL_CALL_CHUNK", ...fields });

test("a first chunk opens, a continuation adds, another id closes and opens", () => {
  expect(
    expand(text({ messageId: "a", delta: "x" }), text({ delta: "y" }), text({ messageId: "b" })),
  ).toEqual([
    { type: "TEXT_MESSAGE_START", messageId: "a", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "x" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "y" },
    { type: "TEXT_MESSAGE_END", messageId: "a" },
    { type: "TEXT_MESSAGE_START", messageId: "b", role: "assistant" },
  ]);
});

test("metadata rides on START and content, rawEvent only on content, neither on the END", () => {
  const out = expand(
    text({ messageId: "a", metadata: { k: 1 }, rawEvent: 7, timestamp: 5 }),
    text({ metadata: { k: 2 } }),
    { type: "CUSTOM", name: "x", value: null },
  );
  expect(out).toEqual([
    { type: "TEXT_MESSAGE_START", messageId: "a", role: "assistant", metadata: { k: 1 } },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "", metadata: { k: 1 }, rawEvent: 7 },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "", metadata: { k: 2 } },
    { type: "TEXT_MESSAGE_END", messageId: "a" },
    { type: "CUSTOM", name: "x", value: null },
  ]);
});

test("an event closes its own lane only; a run event closes all lanes in opening order", () => {
  const out = expand(
    text({ messageId: "a", subagentRunId: "s1" }),
    text({ messageId: "b", subagentRunId: "s2" }),
    { type: "STEP_STARTED", stepName: "n" },
    { type: "SUBAGENT_FINISHED", subagentRunId: "s2" },
    text({ messageId: "c" }),
    { type: "RUN_ERROR", message: "stop" },
  );
  expect(out.map((event) => event.type)).toEqual([
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_START",
    "STEP_STARTED",
    "TEXT_MESSAGE_END",
    "SUBAGENT_FINISHED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_END",
    "TEXT_MESSAGE_END",
    "RUN_ERROR",
  ]);
  expect(out[6]).toEqual({ type: "TEXT_MESSAGE_END", messageId: "a", subagentRunId: "s1" });
});

test("RAW, activity and encrypted values do not break an id-less continuation, CUSTOM does", () => {
  const raw: AgUiEvent = { type: "RAW", event: 1 };
  expect(expand(text({ messageId: "a" }), raw, text({ delta: "x" }))).toHaveLength(3);
  const custom: AgUiEvent = { type: "CUSTOM", name: "n", value: 1 };
  expect(codeOf(() => expand(text({ messageId: "a" }), custom, text({ delta: "x" })))).toBe(
    "ERR_CHUNK_FIRST_INCOMPLETE",
  );
});

test("an empty id is a present id", () => {
  expect(expand(text({ messageId: "a" }), text({ messageId: "" })).at(-1)).toEqual({
    type: "TEXT_MESSAGE_START",
    messageId: "",
    role: "assistant",
  });
});

test("a first chunk without id or tool name, a contradiction and an ambiguity each have a code", () => {
  const first = "ERR_CHUNK_FIRST_INCOMPLETE";
  const conflict = "ERR_CHUNK_CONFLICT";
  expect(codeOf(() => expand(text({ delta: "x" })))).toBe(first);
  expect(codeOf(() => expand(tool({ toolCallName: "f" })))).toBe(first);
  expect(codeOf(() => expand(tool({ toolCallId: "c" })))).toBe(first);
  const opened = text({ messageId: "a" });
  expect(codeOf(() => expand(opened, text({ role: "user" })))).toBe(conflict);
  expect(codeOf(() => expand(opened, text({ role: "assistant" })))).toBeUndefined();
  expect(codeOf(() => expand(opened, text({ name: "n" })))).toBe(conflict);
  expect(codeOf(() => expand(opened, text({ messageId: "a", subagentRunId: "s" })))).toBe(conflict);
  const call = tool({ toolCallId: "c", toolCallName: "f" });
  expect(codeOf(() => expand(call, tool({ toolCallName: "g" })))).toBe(conflict);
  expect(codeOf(() => expand(call, tool({ parentMessageId: "p" })))).toBe(conflict);
  const lanes = ["s1", "s2"].map((tag) => text({ messageId: tag, subagentRunId: tag }));
  expect(codeOf(() => expand(...lanes, text({ delta: "x" })))).toBe("ERR_CHUNK_AMBIGUOUS");
});

test("an untagged continuation finds the only open stream of its kind and keeps its owner", () => {
  const out = expand(text({ messageId: "a", subagentRunId: "s" }), text({ delta: "x" }));
  expect(out[1]).toEqual({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "a",
    delta: "x",
    subagentRunId: "s",
  });
});

test("lanes are bounded: the limit passes, one more is refused, and the expander is dead", () => {
  const expander = createChunkExpander({ maxLanes: 2 });
  const open = (tag: string) => expander.push(text({ messageId: tag, subagentRunId: tag }));
  open("s1");
  open("s2");
  expander.push(text({ messageId: "again", subagentRunId: "s2" }));
  expect(codeOf(() => open("s3"))).toBe("ERR_CHUNK_TOO_MANY_LANES");
  expect(codeOf(() => expander.push({ type: "RAW", event: 1 }))).toBe("ERR_CHUNK_TOO_MANY_LANES");
});

test("what open streams hold is bounded: the limit passes, one more is refused, and closing gives room", () => {
  const expander = createChunkExpander({ maxHeldCharacters: 10 });
  expander.push(text({ messageId: "12345" }));
  for (let times = 0; times < 9; times++) expander.push(text({ messageId: `${times}`.repeat(10) }));
  const tagged = text({ messageId: "1", subagentRunId: "" });
  expect(codeOf(() => expander.push(tagged))).toBe("ERR_CHUNK_HELD_TOO_LARGE");
});

test("the end of the stream makes no END up and names what was open", () => {
  const expander = createChunkExpander();
  expander.push(text({ messageId: "a", subagentRunId: "s" }));
  expect(expander.end()).toEqual([]);
  expect(expander.openStreams()).toEqual([{ kind: "text", id: "a", subagentRunId: "s" }]);
  expect(() => expander.push(text({ messageId: "b" }))).toThrow(TypeError);
});

test("difference C1: what the schema does not know does not ride on the expanded events", () => {
  const [start, content] = expand(text({ messageId: "a", delta: "x", vendor: 1 }));
  expect(start).not.toHaveProperty("vendor");
  expect(content).not.toHaveProperty("vendor");
});

test("a limit that is not a positive integer is a TypeError", () => {
  expect(() => createChunkExpander({ maxLanes: 0 })).toThrow(TypeError);
});
