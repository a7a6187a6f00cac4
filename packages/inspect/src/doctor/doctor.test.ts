import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import { encodeProto } from "@countersign/wire/proto";
import { expect, test } from "vitest";
import { clean, diagnose, frames, idsOf, inside, run, TEXT, wait } from "../testing/diagnose.js";
import type { Ids, Script } from "../testing/diagnose.js";
import { faults } from "../testing/run-check.js";
import { examine } from "./doctor.js";

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

test("a redirect to another server, or to no address, is told and not followed: headers hold tokens", async () => {
  const other = await startFakeAgent(() => ({ pieces: [] }));
  const { port } = new URL(other.url);
  for (const [location, place] of [
    [other.url, `http://127.0.0.1:${port}`],
    [`https://localhost:${port}/`, `https://localhost:${port}`],
    ["http://[", "no address"],
    ["file:///etc/passwd", "file://"],
  ] as const) {
    const agent = await startFakeAgent(() => ({ status: 307, headers: { location }, pieces: [] }));
    const report = await examine(agent.url, { headers: { authorization: "Bearer token-1" } });
    await agent.stop();
    expect(faults(report.findings)).toEqual(["http/status", "http/redirect"]);
    expect(report.findings.find(({ rule }) => rule === "http/redirect")?.places).toEqual([
      { detail: `307 to ${place}, not followed` },
    ]);
  }
  expect(other.requests).toEqual([]);
  await other.stop();
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
