import { request } from "node:http";
import { PassThrough } from "node:stream";
import { parseJson } from "@countersign/core";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { examineRecording } from "../doctor/recording.js";
import { decodeRecordingLine, textOf } from "../recording/line.js";
import type { EventLine, RecordingLine } from "../recording/line.js";
import { startReplay } from "../replay/serve.js";
import { faults } from "../testing/run-check.js";
import { startCapture } from "./proxy.js";
import { captureSession } from "./session.js";

const IDS = { threadId: "t1", runId: "r1" };
const INPUT = JSON.stringify({
  ...IDS,
  messages: [{ id: "u1", role: "user", content: "my secret question" }],
});
const EVENTS = [
  { type: "RUN_STARTED", ...IDS },
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  {
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "m1",
    delta: "secret answer",
    rawEvent: { prompt: "secret prompt" },
  },
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
  { type: "STATE_SNAPSHOT", snapshot: { balance: 4711 } },
  { type: "RUN_FINISHED", ...IDS },
];
/** Everything a re-serialising recorder would lose: spacing, escapes, broken frames, names, comments. */
const BODY = `: hello\n\n${EVENTS.slice(0, 3).map(sseFrame).join("")}id: 9\nevent: e\ndata: {"type" : "CUSTOM","name":"\\u0061\\/b","value":1.0}\n\ndata: not json\n\n${EVENTS.slice(3).map(sseFrame).join("")}`;

function sink(): { output: PassThrough; text: () => string } {
  const output = new PassThrough();
  const parts: Buffer[] = [];
  output.on("data", (part: Buffer) => parts.push(part));
  return { output, text: () => Buffer.concat(parts).toString("utf8") };
}

function linesOf(text: string): RecordingLine[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => decodeRecordingLine(parseJson(line)) ?? []);
}

const opened = (text: string) => () =>
  (async function* () {
    yield Buffer.from(text);
  })();
const post = (url: string): Promise<string> =>
  fetch(url, { method: "POST", body: INPUT, headers: { authorization: "Bearer token-1" } }).then(
    (answer) => answer.text(),
  );

test("a capture passes the stream on byte for byte, and a replay of it gives the same bytes again", async () => {
  const agent = await startFakeAgent(() => ({ pieces: [BODY] }));
  const { output, text } = sink();
  const capture = await startCapture({ target: `${agent.url}agent?x=1`, output });
  expect(await post(capture.url)).toBe(BODY);
  expect(agent.requests[0]).toMatchObject({
    path: "/agent?x=1",
    body: INPUT,
    headers: { authorization: "Bearer token-1" },
  });
  await capture.close();
  await agent.stop();
  expect(text()).not.toContain("token-1");
  expect(linesOf(text()).map(({ kind }) => kind)).toEqual([
    "header",
    "request",
    "response",
    "comment",
    ...Array.from({ length: 8 }, () => "event"),
    "end",
  ]);
  const replay = await startReplay({ open: opened(text()), speed: Infinity });
  expect(await post(replay.url)).toBe(BODY.replace("id: 9\nevent: e\n", "event: e\nid: 9\n"));
  await replay.close();
});

test("a recording holds only the kinds of lines that AG-UI DevTools read, each with its members", async () => {
  const agent = await startFakeAgent(() => ({ pieces: [BODY] }));
  const { output, text } = sink();
  const capture = await startCapture({ target: agent.url, output });
  await post(capture.url);
  await capture.close();
  await agent.stop();
  const lines = text()
    .trimEnd()
    .split("\n")
    .map((line) => parseJson(line) as Record<string, unknown>);
  const members: Record<string, readonly string[]> = {
    header: ["schemaVersion", "tool", "capturedAt", "url", "transport", "redacted"],
    request: ["connId", "tMs", "method", "url", "input"],
    event: ["connId", "seq", "tMs", "event"],
    keepalive: ["connId", "seq", "tMs", "comment"],
  };
  for (const line of lines) {
    expect(Object.keys(line)).toEqual(
      expect.arrayContaining([...(members[`${line["kind"]}`] ?? ["none"])]),
    );
  }
  const numbers = lines.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test("a recording of AG-UI DevTools is read with its keep-alives", () => {
  const line = { kind: "keepalive", connId: "conn-1", seq: 4, tMs: 12, comment: "ping" };
  expect(decodeRecordingLine(line)).toEqual({
    kind: "comment",
    connId: "conn-1",
    seq: 4,
    tMs: 12,
    text: "ping",
  });
});

test("a recorded stream is judged as the live one, and faults are found by their event", async () => {
  const agent = await startFakeAgent(({ method }) =>
    method === "OPTIONS"
      ? { status: 204, headers: { "content-type": "" }, pieces: [] }
      : { pieces: EVENTS.map(sseFrame) },
  );
  const { output, text } = sink();
  const capture = await startCapture({ target: agent.url, output });
  await fetch(capture.url, { method: "OPTIONS" });
  await post(capture.url);
  await post(capture.url);
  await capture.close();
  await agent.stop();
  const report = await examineRecording("x.agui.jsonl", opened(text())());
  expect(faults(report.findings)).toEqual([]);
  expect(report.stream).toMatchObject({ events: 12, runs: 2 });
  expect(report.layers.map(({ status }) => status)).toEqual(["skipped", "skipped", "pass"]);
  const broken = text().replace("TEXT_MESSAGE_START", "TEXT_MESSAGE_END");
  const found = await examineRecording("x.agui.jsonl", opened(broken)());
  expect(faults(found.findings)).toEqual(
    ["event/unknown-field", "text/not-open"].toSorted((a) => (a === "text/not-open" ? -1 : 1)),
  );
});

test.each([
  [["text"], ["secret question", "secret answer", "secret prompt"], ["4711"]],
  [["state"], ["4711", "secret prompt"], ["secret answer", "secret question"]],
  [["text", "reasoning", "toolArgs", "toolResults", "state"], ["secret", "4711"], []],
] as const)(
  "redacting %j removes its content and every part it cannot attribute",
  async (groups, gone, kept) => {
    const agent = await startFakeAgent(() => ({ pieces: EVENTS.map(sseFrame) }));
    const { output, text } = sink();
    const capture = await startCapture({ target: agent.url, output, redact: groups });
    await post(capture.url);
    await capture.close();
    await agent.stop();
    for (const word of gone) expect(text()).not.toContain(word);
    for (const word of kept) expect(text()).toContain(word);
    expect(text()).toMatch(/«redacted: \d+ chars»/);
    const report = await examineRecording("x.agui.jsonl", opened(text())());
    expect(faults(report.findings)).toEqual([]);
    expect(report.stream?.events).toBe(EVENTS.length);
  },
);

test("a WebSocket is relayed and recorded frame by frame, sub-protocol and close code included", async () => {
  const agent = await startFakeAgent(() => ({
    pieces: EVENTS.map((event, index) => (index === 0 ? sseFrame(event) : JSON.stringify(event))),
  }));
  const { output, text } = sink();
  const capture = await startCapture({ target: agent.webSocketUrl, output });
  const frames = await talk(capture.url);
  await capture.close();
  await agent.stop();
  const events = linesOf(text()).filter((line): line is EventLine => line.kind === "event");
  expect(events.map(textOf)).toEqual(frames);
  expect(linesOf(text()).find(({ kind }) => kind === "request")).toMatchObject({
    method: "WS",
    input: { threadId: "t1" },
  });
  expect(faults((await examineRecording("x", opened(text())())).findings)).toEqual([]);
  const replay = await startReplay({ open: opened(text()), speed: Infinity });
  expect(await talk(replay.webSocketUrl)).toEqual(frames);
  await replay.close();
});

function talk(url: string): Promise<string[]> {
  return new Promise((done, failed) => {
    const frames: string[] = [];
    const socket = new WebSocket(url);
    socket.on("error", failed);
    socket.on("open", () => socket.send(INPUT));
    socket.on("message", (data) => {
      frames.push(String(data));
      if (frames.length === EVENTS.length) {
        socket.close();
        done(frames);
      }
    });
  });
}

test("a session is recorded by listening to it, and a refused one says why", async () => {
  const agent = await startFakeAgent((request) =>
    request.path === "/no" ? { status: 403, pieces: [] } : { pieces: [BODY] },
  );
  const { output, text } = sink();
  await captureSession({ url: `${agent.url}?session=s1`, output });
  expect(linesOf(text()).filter(({ kind }) => kind === "event")).toHaveLength(8);
  await expect(captureSession({ url: `${agent.url}no`, output })).rejects.toMatchObject({
    code: "ERR_INSPECT_SESSION_REFUSED",
  });
  await agent.stop();
});

test("a session that is somewhere else is refused: the headers were not meant for there", async () => {
  const other = await startFakeAgent(() => ({ pieces: [BODY] }));
  const agent = await startFakeAgent(() => ({
    status: 307,
    headers: { location: other.url },
    pieces: [],
  }));
  const headers = { "x-api-key": "key-1" };
  await expect(
    captureSession({ url: agent.url, headers, output: sink().output }),
  ).rejects.toMatchObject({ code: "ERR_INSPECT_SESSION_REFUSED", facts: { status: 307 } });
  expect(other.requests).toEqual([]);
  await agent.stop();
  await other.stop();
});

test("an agent that cannot be reached is a 502 for the client and a cut in the file", async () => {
  const agent = await startFakeAgent(() => ({ pieces: [] }));
  await agent.stop();
  const { output, text } = sink();
  const capture = await startCapture({ target: agent.url, output });
  expect((await fetch(capture.url, { method: "POST", body: "{}" })).status).toBe(502);
  await capture.close();
  expect(linesOf(text()).at(-1)).toMatchObject({ kind: "end", reason: "cut" });
});

test("a replay keeps the spacing, scaled, and can answer with the ids that were asked for", async () => {
  const lines = EVENTS.map((event, index) =>
    JSON.stringify({ kind: "event", connId: "c", seq: index, tMs: index * 100, event }),
  ).join("\n");
  const replay = await startReplay({ open: opened(lines), speed: 5, echoIds: true });
  const began = performance.now();
  const body = await fetch(replay.url, {
    method: "POST",
    body: INPUT.replaceAll("r1", "mine"),
  }).then((answer) => answer.text());
  expect(performance.now() - began).toBeGreaterThan(90);
  expect(body).toContain('"runId":"mine"');
  expect(body).not.toContain('"runId":"r1"');
  await replay.close();
});

test.each([
  ["plain events", EVENTS.map((event) => JSON.stringify(event)).join("\n")],
  ["an SSE body", EVENTS.map(sseFrame).join("")],
])("%s can be replayed too", async (_name, text) => {
  const replay = await startReplay({ open: opened(text), speed: Infinity });
  expect(await post(replay.url)).toBe(EVENTS.map(sseFrame).join(""));
  await replay.close();
  await expect(startReplay({ open: opened("\n") })).rejects.toMatchObject({
    code: "ERR_INSPECT_RECORDING_EMPTY",
  });
});

test("a capture never leaves its target, whatever path it is asked for", async () => {
  const agent = await startFakeAgent(({ path }) => ({ pieces: [path] }));
  const { output } = sink();
  const capture = await startCapture({ target: `${agent.url}agent`, output });
  const { port } = new URL(capture.url);
  const raw = (path: string): Promise<string> =>
    new Promise((done, failed) => {
      request({ port, path, method: "GET" }, (answer) => {
        answer.setEncoding("utf8").once("data", done);
      })
        .on("error", failed)
        .end();
    });
  expect(await raw("/other?x=1")).toBe("/other?x=1");
  for (const path of ["http://example.invalid/", "//example.invalid/", "/\\\\example.invalid/"]) {
    expect(await raw(path)).toMatch(/^\/(?:agent|example\.invalid\/)$/);
  }
  await capture.close();
  await agent.stop();
});

test("a replay is served to programs and pages of this machine, not to pages of others", async () => {
  const replay = await startReplay({
    open: opened(EVENTS.map(sseFrame).join("")),
    speed: Infinity,
  });
  const ask = (origin: string): Promise<Response> =>
    fetch(replay.url, { method: "POST", body: INPUT, headers: { origin } });
  expect((await ask("https://example.com")).status).toBe(403);
  const local = await ask("http://localhost:3000");
  expect(local.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
  await local.text();
  await replay.close();
});
