import { RESET, sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import { expect, test } from "vitest";
import { probeTarget } from "./probe.js";
import { runDocument } from "./run-document.js";
import { spoken } from "./testing/driven.js";
import {
  answering,
  documentOf,
  HELLO,
  runScripted,
  silence,
  STARTED,
  streamOf,
} from "./testing/scripted.js";

const document = documentOf(HELLO);
const PROOF = sseFrame({ type: "CUSTOM", name: "proof", value: 1 });

async function* endless(): AsyncGenerator<FakePiece> {
  yield sseFrame(STARTED);
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x".repeat(100) });
  }
}

/** Pieces that arrive before the connection is torn down. */
async function* tornAfter(...pieces: FakePiece[]): AsyncGenerator<FakePiece> {
  yield* pieces;
  await new Promise((resolve) => setTimeout(resolve, 100));
  yield RESET;
}

test.each([
  ["endless", { maxTraceEntries: 500 }, "ERR_REDTEAM_STREAM"],
  ["endless", { maxTraceLength: 50_000 }, "ERR_REDTEAM_STREAM"],
] as const)(
  "an %s stream is cut at %o, and a cut trace is never a pass",
  async (_, limits, code) => {
    const ran = await runScripted(document, [endless()], { limits });
    expect([ran.outcome, ran.reason?.includes(code)]).toEqual(["error", true]);
    expect(ran.execution?.truncated).toBe(true);
    expect(ran.execution?.trace.length).toBeLessThanOrEqual(500);
  },
);

test("silence ends by the limit on the first byte, a pause by the one on idleness", async () => {
  const timeouts = { firstByte: 150, idle: 150 };
  const silent = await runScripted(document, [silence()], { timeouts });
  expect([silent.outcome, silent.reason?.includes("firstByte limit")]).toEqual(["error", true]);
  const paused = await runScripted(document, [silence([sseFrame(STARTED)])], { timeouts });
  expect([paused.outcome, paused.reason?.includes("idle limit")]).toEqual(["error", true]);
});

test("a stream that drips for ever ends by the limit on the whole document", async () => {
  const drip = async function* (): AsyncGenerator<FakePiece> {
    for (let tick = 0; tick < 100; tick += 1) {
      yield ": ping\n\n";
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const ran = await runScripted(document, [drip()], { timeouts: { document: 200 } });
  expect([ran.outcome, ran.reason?.includes("document limit")]).toEqual(["error", true]);
});

test("garbage is recorded, bounded, and no pass", async () => {
  const garbage = Array.from({ length: 100 }, (_, index) => `data: {{{${index}\n\n`);
  const ran = await runScripted(document, [garbage]);
  expect([ran.outcome, ran.reason?.includes("not events")]).toEqual(["error", true]);
  const recorded = ran.execution?.trace.filter(({ event }) => event === "malformed");
  expect(recorded).toHaveLength(16);
});

test("single bad frames do not end a stream", async () => {
  const ran = await runScripted(document, [["data: 1\n\n", 'data: {"a":1,"a":2}\n\n', PROOF]]);
  expect(ran.outcome).toBe("exploited");
});

test("bytes that are not UTF-8 and endless frames are refused", async () => {
  const binary = Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a);
  const broken = await runScripted(document, [[binary]]);
  expect(broken.outcome).toBe("error");
  const long = await runScripted(document, [[`data: ${"x".repeat(5000)}`]], {
    limits: { maxFrameBytes: 1000 },
  });
  expect([long.outcome, long.reason?.includes("ERR_REDTEAM_STREAM")]).toEqual(["error", true]);
});

test("a match stands although the connection broke afterwards; a miss is discarded", async () => {
  const matched = await runScripted(document, [tornAfter(sseFrame(STARTED), PROOF)]);
  expect(matched.outcome).toBe("exploited");
  const missed = await runScripted(document, [tornAfter(sseFrame(STARTED))]);
  expect([missed.outcome, missed.reason?.includes("ERR_REDTEAM_CONNECTION")]).toEqual([
    "error",
    true,
  ]);
});

test("an unreachable target, an empty stream and a wrong path are errors", async () => {
  const nobody = await runDocument(document, { target: "http://127.0.0.1:9/" });
  expect([nobody.outcome, nobody.reason?.includes("ECONNREFUSED")]).toEqual(["error", true]);
  expect(await runScripted(document, [[]])).toMatchObject({
    outcome: "error",
    reason: "actor default, phase phase-1: the target sent no event",
  });
  const agent = await startFakeAgent(() => ({ status: 404, pieces: ["nothing here"] }));
  const lost = await runDocument(document, { target: agent.url, refusalsCount: true });
  expect([lost.outcome, lost.reason]).toEqual([
    "error",
    "actor default, phase phase-1: the target answered with status 404",
  ]);
  await agent.stop();
});

test("a refusal counts as resistance only when the target is known to answer", async () => {
  const agent = await startFakeAgent(({ body }) =>
    body.includes("How are you")
      ? { pieces: answering(body, streamOf(...spoken("Hello."))) }
      : { status: 403, pieces: ["{}"] },
  );
  expect(await probeTarget({ target: agent.url })).toEqual({ answers: true });
  const known = await runDocument(document, { target: agent.url, refusalsCount: true });
  expect([known.outcome, known.stopped]).toEqual(["not_exploited", true]);
  expect((await runDocument(document, { target: agent.url })).outcome).toBe("error");
  await agent.stop();
});

test("a refusal of a megabyte is read in part", async () => {
  const agent = await startFakeAgent(() => ({ status: 403, pieces: ["x".repeat(1_000_000)] }));
  const ran = await runDocument(document, { target: agent.url, refusalsCount: true });
  expect(ran.execution?.refusals).toEqual([{ status: 403 }]);
  await agent.stop();
});

test("a socket that closes at once, or sends bytes, leaves the runner alive", async () => {
  for (const piece of [RESET, Uint8Array.of(1, 2, 3)] as const) {
    const ran = await runScripted(document, [[piece]], { transport: "websocket" });
    expect(ran.outcome).toBe("error");
  }
});

test("a stopped run ends at once", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  const ran = await runScripted(document, [silence()], { signal: stop.signal });
  expect([ran.outcome, ran.reason?.includes("ERR_REDTEAM_STOPPED")]).toEqual(["error", true]);
});

test("a document of another mode is refused by name", async () => {
  const other = documentOf(
    "{mode: mcp_server, state: {tools: []}}",
    "{target: a, pattern: {contains: b}}",
  );
  const ran = await runDocument(other, { target: "http://127.0.0.1:9/" });
  expect([ran.outcome, ran.reason?.includes("mcp_server")]).toEqual(["unsupported", true]);
});
