import { RESET } from "@countersign/testkit";
import { encodeProto } from "@countersign/wire/proto";
import { expect, test } from "vitest";
import { changed, clean, diagnose, frames, inside, run, TEXT } from "../testing/diagnose.js";
import type { Script } from "../testing/diagnose.js";
import { faults } from "../testing/run-check.js";

test("a clean agent is clean in every layer, and its bytes are accounted for", async () => {
  const report = await diagnose(clean);
  expect(faults(report.findings)).toEqual([]);
  expect(report.findings.map(({ rule }) => rule)).toEqual([]);
  expect(report.layers.map(({ status }) => status)).toEqual(["pass", "pass", "pass"]);
  expect(report.verdict).toBe("Clean: nothing wrong found, 5 events checked.");
  expect(report.stream).toMatchObject({ runs: 1, dialect: "1.0", features: ["text"] });
  expect(report.timeline.phases.map(({ name }) => name)).toEqual([
    "dns",
    "tcp",
    "preflight",
    "request",
    "stream",
  ]);
  expect(report.timeline.events).toHaveLength(5);
  expect(report.bytes.find(({ measured }) => measured)?.transport).toBe("sse-http1");
  expect(report.bytes.every(({ payload }) => payload === report.stream?.bytes)).toBe(true);
});

test.each([
  [
    "CRLF throughout (sse-starlette)",
    "sse/line-endings",
    changed((body) => body.replaceAll("\n", "\r\n")),
  ],
  ["CR throughout", "sse/line-endings", changed((body) => body.replaceAll("\n", "\r"))],
  ["[DONE]", "sse/done-marker", changed((body) => `${body}data: [DONE]\n\n`)],
  ["empty data as heartbeat", "sse/empty-data", changed((body) => `data:\n\n${body}`)],
  ["{} as heartbeat", "sse/ping-object", changed((body) => `data: {}\n\n${body}`)],
  [
    "the ADK's error event",
    "sse/error-event",
    (ids) => ({ pieces: [frames(run(ids).slice(0, 1)), 'event: error\ndata: {"error":"x"}\n\n'] }),
  ],
  [
    "an error object without type",
    "sse/error-event",
    (ids) => ({ pieces: [frames(run(ids).slice(0, 1)), 'data: {"error":"x"}\n\n'] }),
  ],
  ["no blank line at the end", "sse/unterminated", changed((body) => body.trimEnd())],
  [
    "JSON lines",
    "sse/missing-data",
    changed((body) => body.replaceAll("data: ", "").replaceAll("\n\n", "\n")),
  ],
  ["two objects in one frame", "sse/several-events", changed((body) => body.replace("\n\n", "\n"))],
  ["log lines in the body", "sse/stray-line", changed((body) => `INFO ready\n\n${body}`)],
  [
    "null optionals",
    "event/null-field",
    inside({ type: "CUSTOM", name: "x/y", value: 1, timestamp: null }),
  ],
  [
    "null rawEvent",
    "event/null-forgiven",
    inside({ type: "CUSTOM", name: "x/y", value: 1, rawEvent: null }),
  ],
  [
    "older .NET: parentMessageId null",
    "event/null-forgiven",
    inside(
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n", parentMessageId: null },
      { type: "TOOL_CALL_END", toolCallId: "c" },
    ),
  ],
  [
    "snake_case",
    "dialect/snake-case",
    ({ threadId, runId }) => ({
      pieces: [
        frames([
          { type: "RUN_STARTED", thread_id: threadId, run_id: runId },
          { type: "RUN_FINISHED", thread_id: threadId, run_id: runId },
        ]),
      ],
    }),
  ],
  [
    "float timestamps",
    "event/timestamp",
    inside({ type: "CUSTOM", name: "x/y", value: 1, timestamp: 1.5 }),
  ],
  [
    "ISO timestamps",
    "event/timestamp",
    inside({ type: "CUSTOM", name: "x/y", value: 1, timestamp: "2026-01-01T00:00:00Z" }),
  ],
  ["unknown types", "event/unknown-type", inside({ type: "PROGRESS" })],
  [
    "THINKING events",
    "dialect/thinking",
    inside({ type: "THINKING_START" }, { type: "THINKING_END" }),
  ],
  [
    "binary parts",
    "dialect/binary-part",
    inside({
      type: "MESSAGES_SNAPSHOT",
      messages: [
        {
          id: "m",
          role: "user",
          content: [{ type: "binary", mimeType: "image/png", data: "AA==" }],
        },
      ],
    }),
  ],
  ["objects without type", "event/not-an-event", inside({ status: "busy" })],
  [
    "an event over 1.5 MB",
    "event/large",
    inside({ type: "CUSTOM", name: "x/y", value: "x".repeat(1_600_000) }),
  ],
  [
    "RUN_ERROR then RUN_FINISHED",
    "run/after-error",
    (ids) => ({
      pieces: [
        frames([
          { type: "RUN_STARTED", ...ids },
          ...TEXT,
          { type: "RUN_ERROR", message: "no" },
          { type: "RUN_FINISHED", ...ids },
        ]),
      ],
    }),
  ],
  [
    "missing RUN_STARTED",
    "run/first-event",
    (ids) => ({ pieces: [frames([...TEXT, ...run(ids)])] }),
  ],
  [
    "silent EOF (LangGraph, CopilotKit)",
    "run/truncated",
    (ids) => ({ pieces: [frames(run(ids, ...TEXT).slice(0, 3))] }),
  ],
  ["an empty body", "run/truncated", () => ({ pieces: [] })],
  [
    "a stack trace in RUN_ERROR (AgentCore)",
    "run/error-details",
    (ids) => ({
      pieces: [
        frames([
          { type: "RUN_STARTED", ...ids },
          ...TEXT,
          { type: "RUN_ERROR", message: "Traceback (most recent call last):\n" },
        ]),
      ],
    }),
  ],
  [
    "another thread than asked for",
    "run/thread-of-input",
    ({ runId }) => ({ pieces: [frames(run({ threadId: "x", runId }))] }),
  ],
  [
    "messages without id",
    "event/message-id",
    inside({ type: "MESSAGES_SNAPSHOT", messages: [{ role: "user", content: "x" }] }),
  ],
  [
    "an answer in JSON",
    "http/content-type",
    () => ({ headers: { "content-type": "application/json" }, pieces: ['{"ok":true}'] }),
  ],
  [
    "an HTML page",
    "http/content-type",
    () => ({ headers: { "content-type": "text/html" }, pieces: ["<html>"] }),
  ],
  ["401", "http/auth", () => ({ status: 401, pieces: ["{}"] })],
  ["404", "http/path", () => ({ status: 404, pieces: ["{}"] })],
  ["500", "http/status", () => ({ status: 500, pieces: ["{}"] })],
  ["422 on a valid input", "input/rejected", () => ({ status: 422, pieces: ["{}"] })],
  [
    "a cut connection",
    "http/cut",
    (ids) => ({ pieces: [frames(run(ids, ...TEXT).slice(0, 3)), RESET] }),
  ],
  [
    "the 0.1.0 dialect",
    "dialect/superseded",
    () => ({
      pieces: [
        frames([
          { type: "RUN_STARTED", runId: "r", agentId: "a" },
          { type: "TOOL_CALL_START", toolCallId: "c", toolName: "n", args: {} },
          { type: "RUN_FINISHED", runId: "r", status: "success" },
        ]),
      ],
    }),
  ],
  [
    "protobuf that was not requested",
    "proto/unasked",
    (ids) => ({
      headers: { "content-type": "application/vnd.ag-ui.event+proto" },
      pieces: run(ids).map((event) => encodeProto(event as never)),
    }),
  ],
] as const satisfies readonly (readonly [string, string, Script])[])(
  "%s: %s and nothing else",
  async (_symptom, rule, script) => {
    const report = await diagnose(script);
    expect(faults(report.findings)).toEqual([rule]);
  },
);

test.each([
  [
    "comments, ids and retry",
    changed((body) => `: hi\n\nid: 1\nretry: 5\n${body}`),
    "sse/heartbeat",
  ],
  [
    "the ADK's CRLF ping between LF frames",
    changed((body) => body.replace("\n\n", "\n\n: ping\r\n\r\n")),
    "sse/comment-line-endings",
  ],
  ["a byte order mark", changed((body) => `\ufeff${body}`), "sse/byte-order-mark"],
  ["data without a space", changed((body) => body.replaceAll("data: ", "data:")), undefined],
  [
    "data over several lines",
    changed((body) => body.replace('","', '",\ndata: "')),
    "sse/several-lines",
  ],
  [
    "several runs",
    (ids) => ({ pieces: [frames([...run({ ...ids, runId: "old" }), ...run(ids)])] }),
    "run/several",
  ],
  [
    "a late RUN_ERROR",
    (ids) => ({ pieces: [frames([...run(ids), { type: "RUN_ERROR", message: "late" }])] }),
    "run/failed",
  ],
  [
    "an empty first snapshot",
    inside({ type: "STATE_SNAPSHOT", snapshot: {} }),
    "state/empty-first-snapshot",
  ],
  [
    "several messages in a run",
    inside(...TEXT, ...TEXT.map((event) => ({ ...event, messageId: "n" }))),
    "text/several-messages",
  ],
  [
    "interrupts as CUSTOM (LangGraph, Mastra)",
    inside({ type: "CUSTOM", name: "on_interrupt", value: {} }),
    "interrupt/custom-event",
  ],
  [
    "raw events everywhere",
    inside({ type: "RAW", event: { chunk: "x".repeat(900) } }),
    "event/raw-heavy",
  ],
] as const satisfies readonly (readonly [string, Script, string | undefined])[])(
  "%s is legal: a note at most",
  async (_quirk, script, note) => {
    const report = await diagnose(script);
    expect(faults(report.findings)).toEqual([]);
    expect([undefined, ...report.findings.map(({ rule }) => rule)]).toContain(note);
  },
);
