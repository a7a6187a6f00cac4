import { sseFrame } from "@countersign/testkit";
import type { FakeAnswer, FakeRequest } from "@countersign/testkit";
import type { AgUiEvent } from "@countersign/wire";
import { encodeProto } from "@countersign/wire/proto";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { runClient } from "../testing/client.js";
import type { ClientOptions, ClientRun } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import type { RunIds } from "../testing/events.js";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

async function through(
  answer: (ids: RunIds, request: FakeRequest) => FakeAnswer,
  client: ClientOptions = {},
  options: FixtureOptions = {},
): Promise<ClientRun> {
  fixture = await startFixture((request) => answer(idsOf(request.body), request), {
    policy: OPEN_POLICY,
    ...options,
  });
  return runClient(`${fixture.url}/agents/support`, client);
}

const frames = (events: readonly object[]): FakeAnswer => ({ pieces: events.map(sseFrame) });

/** A complete response, as the client ends up with it. */
const ANSWER = { error: undefined, last: "RUN_FINISHED", content: "hi there" };
const answerOf = (run: ClientRun): object => ({
  error: run.error,
  last: run.types.at(-1),
  content: run.messages.findLast(({ role }) => role === "assistant")?.content,
});

/** The failure that the client received: the codes of all RUN_ERROR events, and that it did not throw. */
const failuresOf = (run: ClientRun): object => ({
  error: run.error,
  codes: run.events.flatMap(({ type, code }) => (type === "RUN_ERROR" ? [code] : [])),
});
const failure = (code: string): object => ({ error: undefined, codes: [code] });

/** A refusal before a stream: no event, a status, and the code of the problem. */
const refusalOf = (run: ClientRun): object => ({
  events: run.events.length,
  status: (run.error as { status?: number } | undefined)?.status,
  code: /"code":"(\w+)"/u.exec(run.error?.message ?? "")?.[1],
});
const refusal = (status: number, code: string): object => ({ events: 0, status, code });

const HI = (ids: RunIds): object[] => inRun(ids, text("m1", "hi there"));

/** Streams that the official client cannot read, or only by luck; through the gateway it can. */
const READABLE: Record<string, (ids: RunIds) => FakeAnswer> = {
  "CRLF framing": (ids) => ({
    pieces: HI(ids).map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
  }),
  "CR framing": (ids) => ({ pieces: HI(ids).map((event) => `data: ${JSON.stringify(event)}\r\r`) }),
  "LF, CRLF and CR in one stream": (ids) => ({
    pieces: HI(ids).map((event, index) => {
      const end = ["\n", "\r\n", "\r"][index % 3] ?? "\n";
      return `data: ${JSON.stringify(event)}${end}${end}`;
    }),
  }),
  "comments, event, id and retry lines": (ids) => ({
    pieces: HI(ids).map(
      (event, index) =>
        `: ping\r\n\r\nevent: agui\nid: ${index}\nretry: 10\ndata: ${JSON.stringify(event)}\n\n`,
    ),
  }),
  "a byte order mark": (ids) => ({ pieces: ["\uFEFF", ...HI(ids).map(sseFrame)] }),
  "data over several lines": (ids) => ({
    pieces: HI(ids).map(
      (event) => `${JSON.stringify(event, undefined, 1).replace(/^/gmu, "data: ")}\n\n`,
    ),
  }),
  "data without a space": (ids) => ({
    pieces: HI(ids).map((event) => `data:${JSON.stringify(event)}\n\n`),
  }),
  "no blank line at the end": (ids) => ({ pieces: [HI(ids).map(sseFrame).join("").trimEnd()] }),
  "[DONE] at the end": (ids) => ({ pieces: [...HI(ids).map(sseFrame), "data: [DONE]\n\n"] }),
  "empty data and {} pings": (ids) => ({
    pieces: HI(ids).flatMap((event) => ["data:\n\n", "data: {}\n\n", sseFrame(event)]),
  }),
  "an unknown event type and unknown properties": (ids) =>
    frames([
      { type: "RUN_STARTED", ...ids, extra: 1 },
      { type: "FUTURE_EVENT", x: 1 },
      ...text("m1", "hi there", { hue: "red" }),
      { type: "RUN_FINISHED", ...ids, runtime: 5 },
    ]),
  "null in optional fields": (ids) =>
    frames([
      { type: "RUN_STARTED", ...ids, parentRunId: null, rawEvent: null, timestamp: null },
      ...text("m1", "hi there", { name: null }),
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t", parentMessageId: null },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      ...text("m2", "hi there"),
      { type: "RUN_FINISHED", ...ids, result: null, outcome: null },
    ]),
  "snake_case fields": ({ threadId, runId }) =>
    frames([
      { type: "RUN_STARTED", thread_id: threadId, run_id: runId },
      { type: "TEXT_MESSAGE_START", message_id: "m1", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", message_id: "m1", delta: "hi there" },
      { type: "TEXT_MESSAGE_END", message_id: "m1" },
      { type: "RUN_FINISHED", thread_id: threadId, run_id: runId },
    ]),
  "float and ISO timestamps": (ids) =>
    frames([
      { type: "RUN_STARTED", ...ids, timestamp: 1_700_000_000.25 },
      ...text("m1", "hi there", { timestamp: "2026-01-01T00:00:00Z" }),
      { type: "RUN_FINISHED", ...ids, timestamp: 1_700_000_001 },
    ]),
  "THINKING events": (ids) =>
    frames(
      inRun(ids, [
        { type: "THINKING_START", title: "hm" },
        { type: "THINKING_TEXT_MESSAGE_START" },
        { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "thinking" },
        { type: "THINKING_TEXT_MESSAGE_END" },
        { type: "THINKING_END" },
        ...text("m1", "hi there"),
      ]),
    ),
  chunks: (ids) =>
    frames(
      inRun(ids, [
        { type: "TEXT_MESSAGE_CHUNK", messageId: "m1", delta: "hi " },
        { type: "RAW", event: {} },
        { type: "TEXT_MESSAGE_CHUNK", delta: "there" },
      ]),
    ),
  "arguments that are not JSON, a result before the end, a result for an unknown call": (ids) =>
    frames(
      inRun(ids, [
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{oops" },
        { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "early" },
        { type: "TOOL_CALL_END", toolCallId: "c" },
        { type: "TOOL_CALL_RESULT", messageId: "r2", toolCallId: "nobody", content: "?" },
        ...text("m1", "hi there"),
      ]),
    ),
  "an empty delta": (ids) => frames(inRun(ids, [...text("m0", ""), ...text("m1", "hi there")])),
  "an event over 1.5 MB": (ids) =>
    frames(
      inRun(ids, [
        { type: "STATE_SNAPSHOT", snapshot: { big: "x".repeat(1_600_000) } },
        ...text("m1", "hi there"),
      ]),
    ),
  "several runs on one stream": ({ threadId, runId }) =>
    frames([
      ...inRun({ threadId, runId: "earlier" }, text("m0", "before")),
      ...inRun({ threadId, runId }, text("m1", "hi there")),
    ]),
  "a patch with an unknown operation, and one that does not apply": (ids) =>
    frames(
      inRun(ids, [
        { type: "STATE_DELTA", delta: [{ op: "spin", path: "/a" }] },
        { type: "STATE_DELTA", delta: [{ op: "remove", path: "/nowhere" }] },
        ...text("m1", "hi there"),
      ]),
    ),
  "a snapshot that is null": (ids) =>
    frames(inRun(ids, [{ type: "STATE_SNAPSHOT", snapshot: null }, ...text("m1", "hi there")])),
  "an unknown role, part and source in a snapshot": (ids) =>
    frames(
      inRun(ids, [
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [
            {
              id: "u1",
              role: "user",
              content: [{ type: "hologram" }, { type: "text", text: "x" }],
            },
            { id: "z", role: "oracle", content: "?" },
          ],
        },
        ...text("m1", "hi there"),
      ]),
    ),
  "a binary part": (ids) =>
    frames(
      inRun(ids, [
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [
            {
              id: "u1",
              role: "user",
              content: [{ type: "binary", mimeType: "image/png", data: "AAAA" }],
            },
          ],
        },
        ...text("m1", "hi there"),
      ]),
    ),
  "an outcome of unknown type": (ids) =>
    frames([
      { type: "RUN_STARTED", ...ids },
      ...text("m1", "hi there"),
      { type: "RUN_FINISHED", ...ids, outcome: { type: "sublime" } },
    ]),
  "a version nobody knows": (ids) =>
    frames([
      { type: "RUN_STARTED", ...ids, protocolVersion: "9.9" },
      ...text("m1", "hi there"),
      { type: "RUN_FINISHED", ...ids },
    ]),
  "a media type with a parameter": (ids) => ({
    headers: { "content-type": "Text/Event-Stream; charset=utf-8" },
    pieces: HI(ids).map(sseFrame),
  }),
  "protobuf under a media type with a parameter": (ids) => ({
    headers: { "content-type": "application/vnd.ag-ui.event+proto; version=1" },
    pieces: HI(ids).map((event) => encodeProto(event as AgUiEvent)),
  }),
  "a stream cut into single bytes": (ids) => ({
    pieces: [...new TextEncoder().encode(HI(ids).map(sseFrame).join(""))].map((byte) =>
      Uint8Array.of(byte),
    ),
  }),
};

describe.each(["1.0.0", "0.0.59", "0.0.55"] as const)("client %s", (version) => {
  test.each(Object.entries(READABLE))("reads an agent that sends %s", async (_name, answer) => {
    expect(answerOf(await through(answer, { version }))).toEqual(ANSWER);
  });
});

/** Streams that the official client mistakes for a success, or crashes on; through the gateway it gets an error. */
const BROKEN: Record<string, { code: string; answer: (ids: RunIds) => FakeAnswer }> = {
  "an end in the middle of a message": {
    code: "AGENT_STREAM_TRUNCATED",
    answer: (ids) => frames(HI(ids).slice(0, 3)),
  },
  "an end without a terminal event": {
    code: "AGENT_STREAM_TRUNCATED",
    answer: (ids) => frames(HI(ids).slice(0, -1)),
  },
  "an empty body": { code: "AGENT_STREAM_TRUNCATED", answer: () => ({ pieces: [] }) },
  "a protobuf frame of no length": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => ({
      headers: { "content-type": "application/vnd.ag-ui.event+proto" },
      pieces: [encodeProto(HI(ids)[0] as AgUiEvent), Uint8Array.of(0, 0, 0, 0)],
    }),
  },
  "a protobuf stream cut in a frame": {
    code: "AGENT_STREAM_TRUNCATED",
    answer: (ids) => ({
      headers: { "content-type": "application/vnd.ag-ui.event+proto" },
      pieces: [encodeProto(HI(ids)[0] as AgUiEvent), Uint8Array.of(0, 0, 0, 9, 1)],
    }),
  },
  "an array": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => ({ pieces: [...HI(ids).slice(0, 1).map(sseFrame), "data: [1]\n\n"] }),
  },
  "two objects in one data": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => ({ pieces: [...HI(ids).slice(0, 1).map(sseFrame), "data: {}{}\n\n"] }),
  },
  "an object without a type": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => ({
      pieces: [sseFrame({ type: "RUN_STARTED", ...ids }), 'event: error\ndata: {"error":"x"}\n\n'],
    }),
  },
  "a duplicate JSON key": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => ({
      pieces: [
        sseFrame({ type: "RUN_STARTED", ...ids }),
        'data: {"type":"CUSTOM","name":"a","name":"b","value":1}\n\n',
      ],
    }),
  },
  "invalid UTF-8": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => ({
      pieces: [
        sseFrame({ type: "RUN_STARTED", ...ids }),
        Buffer.from('data: {"type":"CUSTOM","name":"\xff","value":1}\n\n', "latin1"),
      ],
    }),
  },
  "a malformed known value": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) =>
      frames([
        { type: "RUN_STARTED", ...ids, protocolVersion: "1.0" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: 7, delta: "x" },
      ]),
  },
  "null metadata": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => frames(inRun(ids, text("m", "x", { metadata: null }))),
  },
  "CUSTOM without value": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => frames(inRun(ids, [{ type: "CUSTOM", name: "x" }])),
  },
  "a reasoning start without its role": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => frames(inRun(ids, [{ type: "REASONING_MESSAGE_START", messageId: "r" }])),
  },
  "a text role of tool": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) =>
      frames(inRun(ids, [{ type: "TEXT_MESSAGE_START", messageId: "m", role: "tool" }])),
  },
  "an empty list of interrupts": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) =>
      frames([
        { type: "RUN_STARTED", ...ids },
        { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts: [] } },
      ]),
  },
  "no RUN_STARTED": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames(HI(ids).slice(1)),
  },
  "reasoning content without its start": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) =>
      frames(inRun(ids, [{ type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "x" }])),
  },
  "a span open at the finish": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames(inRun(ids, [{ type: "REASONING_START", messageId: "r" }])),
  },
  "a message open at the finish": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames(inRun(ids, text("m", "x").slice(0, 2))),
  },
  "a run inside a run": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames([{ type: "RUN_STARTED", ...ids, runId: "other" }, ...HI(ids)]),
  },
  "CUSTOM before the start": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames([{ type: "CUSTOM", name: "x", value: 1 }, ...HI(ids)]),
  },
  "CUSTOM after the end": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames([...HI(ids), { type: "CUSTOM", name: "x", value: 1 }]),
  },
  "RUN_FINISHED with other ids": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) =>
      frames([
        { type: "RUN_STARTED", ...ids },
        { type: "RUN_FINISHED", ...ids, threadId: "other" },
      ]),
  },
  "a second run on another thread": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames([...HI(ids), ...inRun({ threadId: "other", runId: "r2" }, [])]),
  },
  "the same run id twice": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) => frames([...HI(ids), ...inRun(ids, [])]),
  },
  "two interrupts of one id": {
    code: "AGENT_PROTOCOL_VIOLATION",
    answer: (ids) =>
      frames([
        { type: "RUN_STARTED", ...ids },
        {
          type: "RUN_FINISHED",
          ...ids,
          outcome: {
            type: "interrupt",
            interrupts: [
              { id: "i", reason: "confirmation" },
              { id: "i", reason: "confirmation" },
            ],
          },
        },
      ]),
  },
  "a patch without a path": {
    code: "AGENT_MALFORMED_EVENT",
    answer: (ids) => frames(inRun(ids, [{ type: "STATE_DELTA", delta: [{ op: "remove" }] }])),
  },
  "RUN_ERROR first": {
    code: "oops",
    answer: () => frames([{ type: "RUN_ERROR", message: "no", code: "oops" }]),
  },
  "RUN_ERROR twice": {
    code: "oops",
    answer: (ids) =>
      frames([
        { type: "RUN_STARTED", ...ids },
        { type: "RUN_ERROR", message: "no", code: "oops" },
        { type: "RUN_ERROR", message: "no", code: "again" },
      ]),
  },
  "RUN_ERROR, then RUN_FINISHED": {
    code: "oops",
    answer: (ids) =>
      frames([
        { type: "RUN_STARTED", ...ids },
        { type: "RUN_ERROR", message: "no", code: "oops" },
        { type: "RUN_FINISHED", ...ids },
      ]),
  },
  "RUN_ERROR after RUN_FINISHED": {
    code: "late",
    answer: (ids) => frames([...HI(ids), { type: "RUN_ERROR", message: "no", code: "late" }]),
  },
};

describe.each(["1.0.0", "0.0.59", "0.0.55"] as const)("client %s", (version) => {
  test.each(Object.entries(BROKEN))(
    "gets an error for an agent that sends %s",
    async (_name, { code, answer }) => {
      expect(failuresOf(await through(answer, { version }))).toEqual(failure(code));
    },
  );
});

/** Requests of 0.0.55 look like those of 0.0.59, so a page with the older release sends this header. */
const ASKS_FOR_55 = { "countersign-dialect": "0.0.55" };

test("a new run after RUN_ERROR reaches a client of 1.0 and 0.0.59; an older one, which would crash, keeps the error", async () => {
  const answer = ({ threadId, runId }: RunIds): FakeAnswer =>
    frames([
      { type: "RUN_STARTED", threadId, runId: "earlier" },
      { type: "RUN_ERROR", message: "lost", code: "lost" },
      ...inRun({ threadId, runId }, text("m1", "hi there")),
    ]);
  expect(answerOf(await through(answer))).toEqual(ANSWER);
  const url = `${fixture?.url}/agents/support`;
  const newer = await runClient(url, { version: "0.0.59", threadId: "t2" });
  expect(answerOf(newer)).toEqual(ANSWER);
  const older = await runClient(url, { version: "0.0.55", threadId: "t3", headers: ASKS_FOR_55 });
  expect(failuresOf(older)).toEqual(failure("lost"));
});

test("cancelled, pending calls, subagents and parts reach a client of 1.0 unchanged", async () => {
  const run = await through((ids) =>
    frames([
      { type: "RUN_STARTED", ...ids },
      { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      {
        type: "TOOL_CALL_RESULT",
        messageId: "r",
        toolCallId: "c",
        content: [{ type: "text", text: "part" }],
      },
      { type: "RUN_FINISHED", ...ids, outcome: { type: "cancelled" } },
    ]),
  );
  expect(run.error).toBeUndefined();
  expect(run.events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
  expect(run.types).toContain("SUBAGENT_STARTED");
});

test.each(["0.0.59", "0.0.55"] as const)(
  "client %s survives what would crash it, and does not take a cancelled run for a success",
  async (version) => {
    const run = await through(
      (ids) =>
        frames([
          { type: "RUN_STARTED", ...ids },
          { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" },
          { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
          ...text("m1", "hi there"),
          { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" },
          { type: "TOOL_CALL_END", toolCallId: "c" },
          {
            type: "TOOL_CALL_RESULT",
            messageId: "r",
            toolCallId: "c",
            content: [{ type: "text", text: "part" }],
          },
          { type: "RUN_FINISHED", ...ids, outcome: { type: "cancelled" } },
        ]),
      version === "0.0.55" ? { version, headers: ASKS_FOR_55 } : { version },
    );
    expect(run.error).toBeUndefined();
    expect(run.types.includes("SUBAGENT_STARTED")).toBe(version === "0.0.59");
    expect(run.types.at(-1)).toBe("RUN_ERROR");
    expect(run.messages.find(({ id }) => id === "m1")?.content).toBe("hi there");
  },
);

const NOT_A_STREAM = "ERR_UPSTREAM_NOT_A_STREAM";
test.each([
  ["an HTML page with status 200", "text/html", "<html>login</html>", NOT_A_STREAM],
  ["JSON with status 200", "application/json", '{"ok":true}', NOT_A_STREAM],
  ["NDJSON with status 200", "application/x-ndjson", '{"type":"RUN_STARTED"}\n', NOT_A_STREAM],
])("an agent that responds with %s is a 502, never a success", async (_name, type, body, code) => {
  const run = await through(() => ({ headers: { "content-type": type }, pieces: [body] }));
  expect(refusalOf(run)).toEqual(refusal(502, code));
});

test("a compressed stream is refused, because the gateway cannot judge it", async () => {
  const run = await through((ids) => ({
    headers: { "content-encoding": "gzip" },
    pieces: [gzipSync(HI(ids).map(sseFrame).join(""))],
  }));
  expect(refusalOf(run)).toEqual(refusal(502, "ERR_UPSTREAM_ENCODING"));
});

test("an agent that responds with an error status or a redirect is a 502, and the redirect is not followed", async () => {
  const unauthorised = await through(() => ({ status: 401, pieces: [] }));
  expect(refusalOf(unauthorised)).toEqual(refusal(502, "ERR_UPSTREAM_STATUS"));
  await fixture?.stop();
  const moved = await through(() => ({
    status: 302,
    headers: { location: "http://127.0.0.1:9/elsewhere" },
    pieces: [],
  }));
  expect(refusalOf(moved)).toEqual(refusal(502, "ERR_UPSTREAM_STATUS"));
  expect(fixture?.agentRequests).toHaveLength(1);
});

test("the agent is called with an explicit Accept, without compression, under its session", async () => {
  await through((ids) => frames(HI(ids)));
  const headers = fixture?.agentRequests[0]?.headers ?? {};
  expect(headers["accept"]).toBe("text/event-stream");
  expect(headers["accept-encoding"]).toBe("identity");
  expect(headers["x-amzn-bedrock-agentcore-runtime-session-id"]).toMatch(/^sess_/u);
});
