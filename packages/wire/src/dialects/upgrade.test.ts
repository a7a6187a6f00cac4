import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryEvent, mutateJson } from "../testing/arbitraries.js";
import { createUpgrader } from "./index.js";
import type { Dialect, Upgrader } from "./index.js";

function upgrader(dialect: Dialect | "auto" = "auto"): Upgrader {
  return createUpgrader({ dialect, mintId: (kind) => kind });
}

const ENVELOPE = {
  event_id: "e",
  timestamp: 1,
  agent_id: "a",
  event_type: "text_stream",
  classification: "display",
  payload: { text: "x" },
};

test.each<[JsonObject, Dialect]>([
  [{ type: "RUN_STARTED", threadId: "t", runId: "r" }, "1.0"],
  [{ type: "RUN_STARTED", thread_id: "t", run_id: "r" }, "0.0"],
  [{ type: "RUN_STARTED", runId: "r" }, "0.1.0"],
  [{ type: "RUN_STARTED" }, "0.1.0"],
  [{ type: "ERROR", message: "m" }, "0.1.0"],
  [{ type: "UI_RENDER_HINT", component: "c" }, "0.1.0"],
  [{ type: "TOOL_CALL_START", toolName: "n" }, "0.1.0"],
  [{ type: "TOOL_CALL_START", toolName: "n", toolCallName: "n", toolCallId: "c" }, "1.0"],
  [{ type: "TEXT_MESSAGE_CHUNK", delta: "d" }, "1.0"],
  [{ type: "THINKING_START" }, "0.0"],
  [ENVELOPE, "chio"],
  [{ type: "CUSTOM", event_id: "e", event_type: "text_stream" }, "1.0"],
  [{}, "1.0"],
])("a stream that begins with %j is taken for %s", (event, dialect) => {
  const auto = upgrader();
  auto.push(event);
  expect(auto.dialect).toBe(dialect);
});

test("an error or an object without a type leaves the question open, anything else closes it", () => {
  const open = upgrader();
  open.push({});
  open.push({ type: "RUN_ERROR", message: "m" });
  expect(open.push({ type: "RUN_STARTED", runId: "r" }).events[0]).toHaveProperty("threadId");
  const closed = upgrader();
  closed.push({ type: "RUN_STARTED", threadId: "t", runId: "r" });
  closed.push({ type: "RUN_FINISHED", threadId: "t", runId: "r" });
  const bare = { type: "RUN_STARTED", runId: "r" };
  expect(closed.push(bare).events).toEqual([bare]);
});

test("a run that declares its version is judged by it, the next run by its own", () => {
  const auto = upgrader();
  const old = { type: "STEP_STARTED", stepName: "s", timestamp: 1.5 };
  auto.push({ type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" });
  expect(auto.push(old).events).toEqual([old]);
  auto.push({ type: "RUN_STARTED", threadId: "t", runId: "r2" });
  expect(auto.push(old).events).toEqual([{ ...old, timestamp: 1500 }]);
});

test("options that cannot work are the caller's mistake", () => {
  expect(() => upgrader("2.0" as Dialect)).toThrow(TypeError);
  expect(() => createUpgrader({ dialect: "auto" } as never)).toThrow(TypeError);
});

test("a translator is dead after an error", () => {
  const dead = upgrader("chio");
  const failing = { ...ENVELOPE, event_id: "" };
  expect(() => dead.push(failing)).toThrow("event_id");
  expect(() => dead.push(ENVELOPE)).toThrow("event_id");
  expect(() => dead.end()).toThrow("event_id");
});

test.each<JsonValue>([null, 5, "x", [], true])("%j is not an event and is refused", (value) => {
  expect(() => upgrader().push(value as JsonObject)).toThrow(
    expect.objectContaining({ code: "ERR_DIALECT_NOT_OBJECT" }),
  );
});

test("names that the prototype would lend are data", () => {
  const event = JSON.parse(
    '{"type":"toString","__proto__":{"type":"x"},"constructor":null}',
  ) as JsonObject;
  for (const dialect of ["auto", "0.0", "1.0"] as const) {
    expect(upgrader(dialect).push(event).events[0]).toBe(event);
  }
  const renamed = JSON.parse(
    '{"type":"RAW","event":1,"raw_event":1,"__proto__":{"a":1}}',
  ) as JsonObject;
  const [result] = upgrader("0.0").push(renamed).events;
  expect(Object.keys(result ?? {})).toContain("__proto__");
});

test("notes are bounded in number and in length, whatever the producer writes", () => {
  const part = { type: "binary", mimeType: "image/png", id: "i" };
  const push = (count: number) =>
    upgrader("0.0").push({
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "m", role: "user", content: Array.from({ length: count }, () => part) }],
    });
  expect(push(64).notes.at(-1)?.rule).toBe("binary-part-removed");
  expect(push(65).notes).toHaveLength(65);
  expect(push(5000).notes).toHaveLength(65);
  expect(push(5000).notes.at(-1)?.rule).toBe("notes-omitted");
  const [long] = upgrader("0.1.0").push({ type: "ERROR", ["k/".repeat(500)]: 1 }).notes;
  expect(long?.path.length).toBeLessThan(200);
});

const oldEvents: JsonObject[] = [
  { type: "RUN_STARTED", runId: "r", agentId: "a", timestamp: 1 },
  { type: "TEXT_MESSAGE_CHUNK", delta: "d", messageId: "m" },
  { type: "TOOL_CALL_START", toolCallId: "c", toolName: "n", args: { a: 1 } },
  { type: "TOOL_CALL_RESULT", toolCallId: "c", result: { a: 1 }, isError: true },
  {
    type: "RUN_FINISHED",
    runId: "r",
    status: "success",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  { type: "ERROR", code: "c", message: "m", details: {} },
  { type: "UI_RENDER_HINT", component: "c", props: {} },
  {
    ...ENVELOPE,
    session_id: "s",
    target: { component_type: "t", component_id: "i" },
    capability: "x",
  },
  { type: "THINKING_START", title: "t" },
  {
    type: "RUN_STARTED",
    thread_id: "t",
    run_id: "r",
    input: { messages: [{ content: [{ type: "binary" }] }] },
  },
];

test("hostile values give events, notes or a coded error in every dialect, and nothing else", () => {
  const seeds = fc.oneof(fc.constantFrom(...oldEvents), arbitraryEvent() as fc.Arbitrary<unknown>);
  const hostile = seeds.chain((event) => mutateJson(event as JsonValue));
  const dialects = fc.constantFrom<Dialect | "auto">("auto", "1.0", "0.0", "0.1.0", "chio");
  fc.assert(
    fc.property(dialects, fc.array(hostile, { minLength: 1, maxLength: 4 }), (dialect, values) => {
      const translator = upgrader(dialect);
      const before = JSON.stringify(values);
      expect(outcomeOf(() => values.map((value) => translator.push(value as JsonObject)))).not.toBe(
        "crashed",
      );
      // Judged values must not change under a later stage's feet.
      expect(JSON.stringify(values)).toBe(before);
    }),
    { numRuns: 3000 },
  );
});

function outcomeOf(action: () => unknown): "translated" | "refused" | "crashed" {
  try {
    action();
    return "translated";
  } catch (error) {
    return isCountersignError(error) ? "refused" : "crashed";
  }
}
