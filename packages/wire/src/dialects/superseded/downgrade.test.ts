import { isCountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { enforceEvent } from "../../enforce/index.js";
import type { AgUiEvent } from "../../model/event.js";
import { arbitraryJson, arbitraryJsonObject } from "../../testing/json.js";
import { generateStream } from "../../testing/streams.js";
import { createDowngrader, createUpgrader } from "../index.js";
import type { CallBufferLimits } from "../index.js";

function downgrade(events: readonly AgUiEvent[], limits: Partial<CallBufferLimits> = {}) {
  const downgrader = createDowngrader("0.1.0", limits);
  const results = events.map((event) => downgrader.push(event));
  return {
    events: results.flatMap((result) => result.events),
    rules: results.flatMap(({ notes }) => notes.map(({ rule, path }) => `${rule} ${path}`.trim())),
  };
}

const call = (id: string, ...deltas: string[]): AgUiEvent[] => [
  { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "n" },
  ...deltas.map((delta): AgUiEvent => ({ type: "TOOL_CALL_ARGS", toolCallId: id, delta })),
  { type: "TOOL_CALL_END", toolCallId: id },
];

test("text is written as chunks that name their message", () => {
  expect(
    downgrade([
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "b" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "k", delta: "c" },
    ]).events,
  ).toEqual([
    { type: "TEXT_MESSAGE_CHUNK", delta: "a", messageId: "m" },
    { type: "TEXT_MESSAGE_CHUNK", delta: "b", messageId: "m" },
    { type: "TEXT_MESSAGE_CHUNK", delta: "c", messageId: "k" },
  ]);
});

test.each(["user", "system", "developer"] as const)(
  "text of role %s never appears as the assistant's",
  (role) => {
    const { events, rules } = downgrade([
      { type: "TEXT_MESSAGE_START", messageId: "m", role },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ]);
    expect(events).toEqual([]);
    expect(rules).toEqual(["role-dropped /role", "event-dropped"]);
  },
);

test("the messages that are kept from the client are bounded", () => {
  const texts = (count: number): AgUiEvent[] =>
    Array.from({ length: count }, (_, index) => ({
      type: "TEXT_MESSAGE_START",
      messageId: `m${index}`,
      role: "user",
    }));
  expect(downgrade(texts(1024)).events).toEqual([]);
  expect(() => downgrade(texts(1025))).toThrow("dialects.maxOpenUnits");
});

test("a tool call is announced at its end with its arguments as an object", () => {
  expect(downgrade(call("c", '{"query":', '"Alice"}')).events).toEqual([
    { type: "TOOL_CALL_START", toolCallId: "c", toolName: "n", args: { query: "Alice" } },
  ]);
  expect(downgrade(call("c"))).toEqual({
    events: [{ type: "TOOL_CALL_START", toolCallId: "c", toolName: "n" }],
    rules: [],
  });
});

test.each(["[1]", "5", "{", '{"a":1,"a":2}'])("arguments %j have no form and are noted", (text) => {
  expect(downgrade(call("c", text))).toEqual({
    events: [{ type: "TOOL_CALL_START", toolCallId: "c", toolName: "n" }],
    rules: ["arguments-dropped"],
  });
});

test("a result that comes before its call's end waits for it", () => {
  const [start, end] = call("c") as [AgUiEvent, AgUiEvent];
  const result: AgUiEvent = {
    type: "TOOL_CALL_RESULT",
    messageId: "r",
    toolCallId: "c",
    content: "x",
  };
  expect(downgrade([start, result, end]).events.map(({ type }) => type)).toEqual([
    "TOOL_CALL_START",
    "TOOL_CALL_RESULT",
  ]);
});

test("what a call may hold back is bounded, at the limit and one over, drip-fed", () => {
  const open: AgUiEvent = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n" };
  const drip: AgUiEvent = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "x" };
  const four = [open, drip, drip, drip, drip];
  expect(() => downgrade(four, { maxBufferedLength: 4 })).not.toThrow();
  expect(() => downgrade([...four, drip], { maxBufferedLength: 4 })).toThrow(
    expect.objectContaining({
      code: "ERR_LIMIT_EXCEEDED",
      facts: { limit: "dialects.maxBufferedLength", allowed: 4 },
    }),
  );
  const two: AgUiEvent[] = [
    { type: "TOOL_CALL_START", toolCallId: "a", toolCallName: "n" },
    { type: "TOOL_CALL_START", toolCallId: "b", toolCallName: "n" },
  ];
  expect(() => downgrade(two, { maxOpenCalls: 2 })).not.toThrow();
  expect(() => downgrade([...two, open], { maxOpenCalls: 2 })).toThrow("maxOpenCalls");
  // A closed call no longer counts.
  const calls = Array.from({ length: 9 }, () => call("c", "{}")).flat();
  expect(() => downgrade(calls, { maxOpenCalls: 1, maxBufferedLength: 2 })).not.toThrow();
});

test("a downgrader is dead after an error", () => {
  const downgrader = createDowngrader("0.1.0", { maxOpenCalls: 0 });
  const open: AgUiEvent = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n" };
  expect(() => downgrader.push(open)).toThrow("maxOpenCalls");
  expect(() => downgrader.push({ type: "RUN_ERROR", message: "m" })).toThrow("maxOpenCalls");
  expect(() => downgrader.end()).toThrow("maxOpenCalls");
});

test.each([
  [{ type: "cancelled" }, "RUN_CANCELLED"],
  [{ type: "interrupt", interrupts: [{ id: "i", reason: "r" }] }, "RUN_INTERRUPTED"],
] as const)("outcome %j is an error, because a finish would look like success", (outcome, code) => {
  const { events, rules } = downgrade([
    { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome } as AgUiEvent,
  ]);
  expect(events).toMatchObject([{ type: "ERROR", code }]);
  expect(rules).toEqual(["outcome-is-error /outcome"]);
});

test("usage of several models is added up, and an unknown count stays unknown", () => {
  const { events, rules } = downgrade([
    {
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      usage: [{ inputTokens: 1, outputTokens: 2, model: "a" }, { inputTokens: 3 }],
    },
  ]);
  expect(events).toEqual([
    { type: "RUN_FINISHED", runId: "r", status: "success", usage: { input_tokens: 4 } },
  ]);
  expect(rules).toEqual(["usage-merged /usage", "field-dropped /usage"]);
});

test("RUN_ERROR becomes ERROR and gives up the calls that never ended", () => {
  const open: AgUiEvent = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n" };
  expect(downgrade([open, { type: "RUN_ERROR", message: "m", code: "c" }])).toEqual({
    events: [{ type: "ERROR", code: "c", message: "m" }],
    rules: ["open-call-dropped"],
  });
});

test("only a well-formed hint becomes UI_RENDER_HINT; every other CUSTOM event is dropped", () => {
  const name = "countersign.ui_render_hint";
  expect(
    downgrade([
      { type: "CUSTOM", name, value: { component: "StockChart", props: null } },
      { type: "CUSTOM", name, value: { component: 5 } },
      { type: "CUSTOM", name, value: [] },
      { type: "CUSTOM", name: "other", value: { component: "StockChart" } },
    ]),
  ).toEqual({
    events: [{ type: "UI_RENDER_HINT", component: "StockChart", props: null }],
    rules: ["event-dropped", "event-dropped", "event-dropped"],
  });
});

test("every generated 1.0 stream is written in the seven types of 0.1.0, and success is never added", () => {
  const types = new Set([
    "RUN_STARTED",
    "TEXT_MESSAGE_CHUNK",
    "TOOL_CALL_START",
    "TOOL_CALL_RESULT",
    "RUN_FINISHED",
    "ERROR",
    "UI_RENDER_HINT",
  ]);
  const isSuccess = (event: AgUiEvent): boolean =>
    event.type === "RUN_FINISHED" &&
    (event.outcome === undefined || event.outcome.type === "success");
  let written = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const { events } = generateStream(seed);
    const result = downgradeUnlessChunksConflict(events);
    if (result === undefined) continue;
    written += 1;
    expect(result.every(({ type }) => types.has(String(type)))).toBe(true);
    expect(result.filter(({ type }) => type === "RUN_FINISHED")).toHaveLength(
      events.filter(isSuccess).length,
    );
  }
  expect(written).toBeGreaterThan(100);
});

/** The generator also makes chunks that contradict each other, which expansion refuses. */
function downgradeUnlessChunksConflict(events: readonly AgUiEvent[]): JsonObject[] | undefined {
  try {
    return downgrade(events).events;
  } catch (error) {
    if (isCountersignError(error) && error.code.startsWith("ERR_CHUNK_")) return undefined;
    throw error;
  }
}

const json = arbitraryJson;
const args = arbitraryJsonObject;
const middle: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    type: fc.constant("TEXT_MESSAGE_CHUNK"),
    delta: fc.string(),
    messageId: fc.string(),
  }),
  fc.record(
    { type: fc.constant("TOOL_CALL_START"), toolCallId: fc.string(), toolName: fc.string(), args },
    { requiredKeys: ["type", "toolCallId", "toolName"] },
  ),
  fc.record(
    {
      type: fc.constant("TOOL_CALL_RESULT"),
      toolCallId: fc.string(),
      result: json,
      isError: fc.boolean(),
    },
    { requiredKeys: ["type", "toolCallId", "result"] },
  ),
  fc.record(
    { type: fc.constant("UI_RENDER_HINT"), component: fc.string(), props: json },
    { requiredKeys: ["type", "component"] },
  ),
) as fc.Arbitrary<JsonObject>;
const count = fc.nat();
const start = fc.record(
  {
    type: fc.constant("RUN_STARTED"),
    runId: fc.constant("r"),
    agentId: fc.string(),
    timestamp: fc.nat({ max: 4_000_000_000 }),
  },
  { requiredKeys: ["type", "runId"] },
) as fc.Arbitrary<JsonObject>;
const end = fc.oneof(
  fc.record(
    {
      type: fc.constant("RUN_FINISHED"),
      runId: fc.constant("r"),
      status: fc.constant("success"),
      usage: fc.record({ input_tokens: count, output_tokens: count }, { requiredKeys: [] }),
    },
    { requiredKeys: ["type", "runId", "status"] },
  ),
  fc.record(
    { type: fc.constant("ERROR"), code: fc.string(), message: fc.string() },
    { requiredKeys: ["type", "message"] },
  ),
) as fc.Arbitrary<JsonObject>;

test("0.1.0 to 1.0 passes enforcement untouched, and back again keeps every field that has a form", () => {
  fc.assert(
    fc.property(start, fc.array(middle, { maxLength: 8 }), end, (first, events, last) => {
      const upgrader = createUpgrader({ dialect: "auto", mintId: (kind) => kind });
      const stream = [first, ...events, last];
      const native = stream.flatMap((event) => upgrader.push(event).events);
      for (const event of native) expect(enforceEvent(event)).toEqual({ event, notes: [] });
      expect(downgrade(native as unknown as AgUiEvent[]).events).toEqual(stream);
    }),
    { numRuns: 300 },
  );
});
