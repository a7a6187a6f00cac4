import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readDialect } from "../dialects/index.js";
import { checkOrder } from "../order/index.js";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";
import type { AgentStoreOptions } from "../store/agent-store.js";

const { started, finished } = runOf(1);

async function read(
  events: readonly (object | string)[],
  options: Partial<AgentStoreOptions> = {},
) {
  const { store, transport } = createHarness(options);
  const ended = store.send("hello");
  await settle();
  transport.last().send(...events);
  transport.last().end();
  return ended;
}

test.each([
  ["run/first-event", textOf("a", "x")],
  ["run/nested-start", [started, started]],
  ["run/finish-ids", [started, { ...finished, threadId: "another" }]],
  ["run/thread-of-input", [{ ...started, threadId: "another" }]],
])("a stream that breaks %s cannot look finished", async (rule, events) => {
  const end = await read(events);
  expect(end.status).toBe("failed");
  expect(end.problem?.message).toContain(rule);
});

test("a run that failed stays failed, whatever end comes after its error", async () => {
  const end = await read([started, { type: "RUN_ERROR", message: "m" }, finished]);
  expect(end).toMatchObject({ status: "failed", problem: { message: "m", source: "agent" } });
});

test("what follows the end of the run is not shown", async () => {
  const end = await read([started, finished, ...textOf("a", "a postscript")]);
  expect(end.status).toBe("done");
  expect(end.messages).toHaveLength(1);
});

test("an error before any run starts is the end of the request", async () => {
  const end = await read([{ type: "RUN_ERROR", message: "not allowed", code: "POLICY" }]);
  expect(end.problem).toMatchObject({ code: "POLICY", source: "agent" });
});

test("runs restated before the requested one are read as history", async () => {
  const old = { threadId: "thread", runId: "old" };
  const end = await read([
    { type: "RUN_STARTED", ...old },
    ...textOf("old-answer", "before"),
    { type: "RUN_FINISHED", ...old },
    started,
    ...textOf("a", "now"),
    finished,
  ]);
  expect(end).toMatchObject({ status: "done", runId: "run-1" });
  expect(end.messages.map(({ id }) => id)).toEqual(["message-1", "old-answer", "a"]);
});

test.each([
  ["text that is no JSON", "{", "ERR_JSON_SYNTAX"],
  [
    "a key named twice",
    '{"type":"CUSTOM","name":"a","name":"b","value":1}',
    "ERR_JSON_DUPLICATE_KEY",
  ],
  [
    "a malformed field",
    { type: "TEXT_MESSAGE_START", messageId: 1 },
    "ERR_ENFORCE_MALFORMED_VALUE",
  ],
  ["a value without a type", {}, "ERR_ENFORCE_NOT_AN_EVENT"],
  [
    "a first chunk without an id",
    { type: "TEXT_MESSAGE_CHUNK", delta: "x" },
    "ERR_CHUNK_FIRST_INCOMPLETE",
  ],
])("%s fails the run under its code and keeps what came before", async (_, event, code) => {
  const end = await read([started, ...textOf("a", "kept"), event, finished]);
  expect(end).toMatchObject({ status: "failed", problem: { code, source: "client" } });
  expect(end.messages.at(-1)).toMatchObject({ content: "kept" });
});

test("an unknown event is dropped with a note and breaks nothing", async () => {
  const notes: unknown[] = [];
  const future = { type: "FUTURE_EVENT", x: 1 };
  const end = await read([started, future, finished], { onNotes: (some) => notes.push(...some) });
  expect(end.status).toBe("done");
  expect(notes).toEqual([{ kind: "unknownEvent", path: "", type: "FUTURE_EVENT" }]);
});

test("chunks are read as messages", async () => {
  const chunk = (delta: string) => ({ type: "TEXT_MESSAGE_CHUNK", messageId: "a", delta });
  const end = await read([started, chunk("a"), chunk("b"), finished]);
  expect(end.messages.at(-1)).toMatchObject({ id: "a", content: "ab" });
});

test("an event over its limit fails the run; one at the limit passes", async () => {
  const event = { type: "CUSTOM", name: "n", value: "x".repeat(100) };
  const size = JSON.stringify(event).length;
  const limited = (maxEventBytes: number) =>
    read([started, event, finished], { limits: { maxEventBytes } });
  expect((await limited(size)).status).toBe("done");
  expect((await limited(size - 1)).problem?.code).toBe("ERR_JSON_TOO_LARGE");
});

test("events over their number fail the run; as many as allowed pass", async () => {
  const events = [started, ...textOf("a", "x"), finished];
  const limited = (maxEvents: number) => read(events, { limits: { maxEvents } });
  expect((await limited(events.length)).status).toBe("done");
  expect((await limited(events.length - 1)).problem?.code).toBe("ERR_LIMIT_EXCEEDED");
});

test("order inside a run is judged when asked for, and ignored safely when not", async () => {
  const stray = { type: "TEXT_MESSAGE_CONTENT", messageId: "nobody", delta: "x" };
  const events = [started, stray, finished];
  expect((await read(events)).status).toBe("done");
  const judged = await read(events, { order: checkOrder() });
  expect(judged.problem?.code).toBe("ERR_CLIENT_ORDER");
});

test("the 0.1.0 dialect is asked in its form and read whole, its hints included", async () => {
  const { store, transport } = createHarness({ dialect: readDialect("0.1.0") });
  const ended = store.send("show AAPL");
  await settle();
  expect(transport.last().request.body).toEqual({ message: "show AAPL" });
  transport
    .last()
    .send(
      { type: "RUN_STARTED", runId: "theirs", agentId: "crm", timestamp: 1700000000 },
      { type: "TEXT_MESSAGE_CHUNK", delta: "Here ", messageId: "m" },
      { type: "TEXT_MESSAGE_CHUNK", delta: "it is", messageId: "m" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolName: "quote", args: { symbol: "AAPL" } },
      { type: "TOOL_CALL_RESULT", toolCallId: "c", result: { price: 1 }, isError: false },
      { type: "UI_RENDER_HINT", component: "StockChart", props: { symbol: "AAPL" } },
      { type: "RUN_FINISHED", runId: "theirs", status: "success", usage: { input_tokens: 5 } },
    );
  const end = await ended;
  expect(end).toMatchObject({ status: "done", usage: [{ inputTokens: 5 }] });
  expect(end.messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant", "tool"]);
  expect(end.renderHints).toMatchObject([
    { component: "StockChart", props: { symbol: "AAPL" }, afterMessageId: "c:result" },
  ]);
});

test("an error of the 0.1.0 dialect is a failure in the agent's words", async () => {
  const end = await read(
    [
      { type: "RUN_STARTED", runId: "r" },
      { type: "ERROR", code: "INTERNAL_ERROR", message: "database" },
    ],
    { dialect: readDialect("auto") },
  );
  expect(end.problem).toEqual({ code: "INTERNAL_ERROR", message: "database", source: "agent" });
});

test("whatever a server sends, the store ends in a state and never in an exception", async () => {
  const value = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom(started, finished, ...textOf("a", "x")).map((event) => JSON.stringify(event)),
    fc
      .record({ type: fc.constantFrom("CUSTOM", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "RUN_ERROR") })
      .map((event) => JSON.stringify(event)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 8 }), async (frames) => {
      const end = await read([started, ...frames]);
      expect(["done", "failed", "waiting", "stopped"]).toContain(end.status);
      expect(end.problem === undefined).toBe(end.status !== "failed");
    }),
    { numRuns: 60 },
  );
});
