import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { RESET, sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAnswer, FakePiece, FakeRequest } from "@countersign/testkit";
import type { JsonObject } from "@countersign/core";
import { encodeProto } from "@countersign/wire/proto";
import { expect, test } from "vitest";
import { faults } from "../testing/run-check.js";
import { examine } from "./doctor.js";
import type { DoctorReport } from "./report.js";
import type { DoctorOptions } from "./session.js";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "content-type, authorization",
  "cache-control": "no-cache",
};

type Ids = { threadId: string; runId: string };
type Script = (
  ids: Ids,
  request: FakeRequest,
) => Omit<FakeAnswer, "pieces"> & { pieces: readonly FakePiece[] | AsyncIterable<FakePiece> };

function idsOf(body: string): Ids {
  if (body === "") return { threadId: "t", runId: "r" };
  const { threadId, runId } = JSON.parse(body) as Ids;
  return { threadId, runId };
}

/** Runs the doctor against an agent that answers preflights well and the run by the script. */
async function diagnose(
  script: Script,
  options: DoctorOptions = {},
  ws = false,
): Promise<DoctorReport> {
  const agent = await startFakeAgent((request) => {
    if (request.method === "OPTIONS") return { status: 204, headers: CORS, pieces: [] };
    const answer = script(idsOf(request.body), request);
    return { ...answer, headers: { ...CORS, ...answer.headers } };
  });
  try {
    return await examine(ws ? agent.webSocketUrl : agent.url, {
      timeoutMs: 4000,
      lingerMs: 300,
      ...options,
    });
  } finally {
    await agent.stop();
  }
}

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function run(ids: Ids, ...inner: JsonObject[]): JsonObject[] {
  return [{ type: "RUN_STARTED", ...ids }, ...inner, { type: "RUN_FINISHED", ...ids }];
}

const TEXT: JsonObject[] = [
  { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hi" },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];

const frames = (events: readonly JsonObject[]): string => events.map(sseFrame).join("");
const clean: Script = (ids) => ({ pieces: run(ids, ...TEXT).map(sseFrame) });
const changed =
  (change: (body: string) => string): Script =>
  (ids) => ({ pieces: [change(frames(run(ids, ...TEXT)))] });
const inside =
  (...events: JsonObject[]): Script =>
  (ids) => ({ pieces: [frames(run(ids, ...events))] });

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
    "protobuf nobody asked for",
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

test("an agent that hangs is layer 2: no events", async () => {
  async function* nothing(): AsyncGenerator<FakePiece> {
    await wait(2000);
    yield "";
  }
  const report = await diagnose(() => ({ pieces: nothing() }), { timeoutMs: 300 });
  expect(faults(report.findings)).toEqual(["http/no-events"]);
  async function* half(ids: Ids): AsyncGenerator<FakePiece> {
    yield sseFrame({ type: "RUN_STARTED", ...ids });
    await wait(2000);
  }
  const stalled = await diagnose((ids) => ({ pieces: half(ids) }), { timeoutMs: 300 });
  expect(faults(stalled.findings)).toEqual(["http/stalled"]);
});

test("a body that stays open after the run is told for POST and fine for GET", async () => {
  async function* open(ids: Ids): AsyncGenerator<FakePiece> {
    yield frames(run(ids));
    await wait(3000);
  }
  const script: Script = (ids) => ({ pieces: open(ids) });
  expect(faults((await diagnose(script)).findings)).toEqual(["http/stalled"]);
  expect(faults((await diagnose(script, { get: true })).findings)).toEqual([]);
});

test("events that were made over seconds and arrive together were buffered", async () => {
  const deltas = Array.from({ length: 8 }, (_, index) => ({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "m",
    delta: "x",
    timestamp: 1_775_335_498_000 + index * 300,
  }));
  const [start, , end] = TEXT;
  const report = await diagnose(inside(start ?? {}, ...deltas, end ?? {}));
  expect(faults(report.findings)).toEqual(["http/buffered"]);
});

test("a long silence without heartbeats is told, with heartbeats it is fine", async () => {
  async function* slow(ids: Ids, beat: boolean): AsyncGenerator<FakePiece> {
    yield sseFrame({ type: "RUN_STARTED", ...ids });
    for (let step = 0; step < 4; step++) {
      await wait(150);
      if (beat) yield ": beat\n\n";
    }
    yield sseFrame({ type: "RUN_FINISHED", ...ids });
  }
  const silent = await diagnose((ids) => ({ pieces: slow(ids, false) }), { silenceMs: 400 });
  expect(faults(silent.findings)).toEqual(["http/silence"]);
  const beating = await diagnose((ids) => ({ pieces: slow(ids, true) }), { silenceMs: 400 });
  expect(faults(beating.findings)).toEqual([]);
});

test("gzip is read and told", async () => {
  const report = await diagnose((ids) => ({
    headers: { "content-encoding": "gzip" },
    pieces: [gzipSync(frames(run(ids, ...TEXT)))],
  }));
  expect(faults(report.findings)).toEqual(["http/compression"]);
  expect(report.stream?.events).toBe(5);
  const broken = await diagnose(() => ({
    headers: { "content-encoding": "gzip" },
    pieces: ["plain"],
  }));
  expect(faults(broken.findings)).toEqual(
    ["http/compression", "http/encoding-unreadable"].toSorted((a) =>
      a === "http/encoding-unreadable" ? -1 : 1,
    ),
  );
});

test("422 because messages lack their id is the input's fault, layer 3", async () => {
  const input = { threadId: "t", runId: "r", messages: [{ role: "user", content: "hi" }] };
  const report = await diagnose(() => ({ status: 422, pieces: ["{}"] }), { input });
  expect(report.findings.map(({ rule, layer }) => [rule, layer])).toEqual([
    ["input/message-id", 3],
  ]);
});

test("an ID token where an access token is meant is recognised", async () => {
  const payload = Buffer.from(JSON.stringify({ token_use: "id", sub: "u" })).toString("base64url");
  const headers = { Authorization: `Bearer e30.${payload}.x` };
  const report = await diagnose(() => ({ status: 403, pieces: [] }), { headers });
  expect(faults(report.findings)).toEqual(["http/id-token"]);
  expect(JSON.stringify(report)).not.toContain(payload);
});

test("a redirect is followed and told", async () => {
  const report = await diagnose((ids, request) =>
    request.path === "/"
      ? { status: 307, headers: { location: "/agent/" }, pieces: [] }
      : clean(ids, request),
  );
  expect(faults(report.findings)).toEqual(["http/redirect"]);
  expect(report.stream?.events).toBe(5);
});

test("a preflight that is refused is an error for a given origin, a note otherwise", async () => {
  const agent = await startFakeAgent((request) =>
    request.method === "OPTIONS"
      ? { status: 405, pieces: [] }
      : { headers: { "cache-control": "no-store" }, pieces: [frames(run(idsOf(request.body)))] },
  );
  const asked = await examine(agent.url, { origin: "https://app.example", timeoutMs: 4000 });
  expect(faults(asked.findings)).toEqual(["http/cors-refused"]);
  const plain = await examine(agent.url, { timeoutMs: 4000 });
  expect(plain.findings.map(({ rule }) => rule)).toEqual(["http/no-cors"]);
  await agent.stop();
});

test("protobuf is read when it was asked for, and its faults are layer 2", async () => {
  const headers = { "content-type": "application/vnd.ag-ui.event+proto" };
  const encoded = (ids: Ids): Uint8Array[] =>
    run(ids, ...TEXT).map((event) => encodeProto(event as never));
  const good = await diagnose((ids) => ({ headers, pieces: encoded(ids) }), { proto: true });
  expect(faults(good.findings)).toEqual([]);
  expect(good.stream?.events).toBe(5);
  const parameter = { "content-type": `${headers["content-type"]}; charset=utf-8` };
  const named = await diagnose((ids) => ({ headers: parameter, pieces: encoded(ids) }), {
    proto: true,
  });
  expect(faults(named.findings)).toEqual(["proto/parameter"]);
  const empty = await diagnose(
    (ids) => ({ headers, pieces: [...encoded(ids).slice(0, 1), new Uint8Array(4)] }),
    { proto: true },
  );
  expect(faults(empty.findings)).toEqual(["proto/empty-frame"]);
  const cut = await diagnose(
    (ids) => ({ headers, pieces: [...encoded(ids), Uint8Array.of(0, 0, 0, 9, 1)] }),
    { proto: true },
  );
  expect(faults(cut.findings)).toEqual(["proto/frame"]);
  const sse = await diagnose(clean, { proto: true });
  expect(sse.findings.map(({ rule }) => rule)).toEqual(["proto/not-offered"]);
});

test("an endpoint that refuses connections is layer 1, and the rest is skipped", async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  const report = await examine(`http://127.0.0.1:${port}/`, { timeoutMs: 1000 });
  expect(faults(report.findings)).toEqual(["net/refused"]);
  expect(report.layers.map(({ status }) => status)).toEqual(["fail", "skipped", "skipped"]);
  const name = await examine("http://no-such-host.invalid/", { timeoutMs: 3000 });
  expect(faults(name.findings)).toEqual(["net/name"]);
});
