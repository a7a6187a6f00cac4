import { sha256Hex } from "@countersign/core";
import { RESET, sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { runClient } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { socketRun } from "../testing/transports.js";
import type { UpstreamTarget } from "./upstream.js";

let fixture: Fixture | undefined;
const closers: (() => void)[] = [];
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
  for (const close of closers.splice(0)) close();
});

const never = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));

const silentAfter =
  (count: number): FakeScript =>
  (request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const events = inRun(idsOf(request.body), text("m1", "hi"));
      const isSocket = request.method === "WS";
      for (const event of events.slice(0, count)) {
        yield isSocket ? JSON.stringify(event) : sseFrame(event);
      }
      await never(request.signal);
    })(),
  });

async function start(script: FakeScript, target: Partial<UpstreamTarget> = {}): Promise<string> {
  fixture = await startFixture(script, { target });
  return `${fixture.url}/agents/support`;
}

async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Accepts connections and never responds. */
async function mutePort(): Promise<number> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("an unreachable agent is a 502 for a request and an error on a socket, which stays open", async () => {
  const port = await deadPort();
  const url = await start(() => ({ pieces: [] }), { url: new URL(`http://127.0.0.1:${port}`) });
  const run = await runClient(url);
  expect(run.error).toMatchObject({ status: 502 });
  expect(run.error?.message).toContain("ERR_UPSTREAM_UNREACHABLE");
  const events = await socketRun(`${fixture?.webSocketUrl}/ws`, { threadId: "t", runId: "r" });
  expect(events).toMatchObject([{ type: "RUN_ERROR", code: "AGENT_UNREACHABLE" }]);
});

test("a run that never began leaves its id free", async () => {
  const url = await start(() => ({ status: 503, pieces: [] }));
  expect((await runClient(url, { runId: "again" })).error).toMatchObject({ status: 502 });
  expect((await runClient(url, { runId: "again" })).error).toMatchObject({ status: 502 });
});

test.each(["post-sse", "websocket"] as const)(
  "a %s agent that does not respond in time is a 504",
  async (transport) => {
    const port = await mutePort();
    const scheme = transport === "websocket" ? "ws" : "http";
    const url = await start(() => ({ pieces: [] }), {
      transport,
      url: new URL(`${scheme}://127.0.0.1:${port}`),
      answerTimeoutMs: 50,
    });
    const run = await runClient(url);
    expect(run.error).toMatchObject({ status: 504 });
    expect(run.error?.message).toContain("ERR_UPSTREAM_TIMEOUT");
  },
);

test.each(["post-sse", "websocket"] as const)(
  "a %s agent that falls silent in the middle of a run ends it with an error",
  async (transport) => {
    const url = await start(silentAfter(3), { transport, idleTimeoutMs: 60 });
    const run = await runClient(url);
    expect(run.error).toBeUndefined();
    expect(run.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "AGENT_TIMEOUT" });
    await vi.waitFor(() => expect(fixture?.agentRequests[0]?.signal.aborted).toBe(true));
  },
);

test.each(["post-sse", "websocket"] as const)(
  "a %s agent that has finished its run but keeps its connection open does not spoil it",
  async (transport) => {
    const url = await start(silentAfter(5), { transport, idleTimeoutMs: 60 });
    const run = await runClient(url);
    expect(run.error).toBeUndefined();
    expect(run.types.at(-1)).toBe("RUN_FINISHED");
  },
);

test.each(["post-sse", "websocket"] as const)(
  "a broken connection to a %s agent ends the run with an error",
  async (transport) => {
    const url = await start(
      (request) => ({
        pieces: (async function* (): AsyncGenerator<FakePiece> {
          const events = inRun(idsOf(request.body), text("m1", "hi")).slice(0, 3);
          const isSocket = request.method === "WS";
          for (const event of events) yield isSocket ? JSON.stringify(event) : sseFrame(event);
          await new Promise((resolve) => setTimeout(resolve, 20));
          yield RESET;
        })(),
      }),
      { transport },
    );
    const run = await runClient(url);
    expect(run.error).toBeUndefined();
    expect(run.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "AGENT_STREAM_TRUNCATED" });
    expect(run.types).not.toContain("RUN_FINISHED");
  },
);

test("a malformed event leaves a receipt: blocked, with its code as the reason and no content", async () => {
  const url = await start((request) => ({
    pieces: [
      sseFrame({ type: "RUN_STARTED", ...idsOf(request.body) }),
      'data: {"type":"CUSTOM","name":"s3cret"}\n\n',
    ],
  }));
  const run = await runClient(url);
  expect(run.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "AGENT_MALFORMED_EVENT" });
  const last = fixture?.recorder.drafts.at(-1);
  expect(last).toMatchObject({
    direction: "outbound",
    rule: "gateway/invalid",
    receipt: {
      allowed: false,
      denial_reason: "invalid event: ERR_ENFORCE_MALFORMED_VALUE",
      event_type: { custom: "invalid event" },
      payload_hash: sha256Hex('{"refused":"ERR_ENFORCE_MALFORMED_VALUE"}'),
    },
  });
  expect(JSON.stringify([last, run.events])).not.toContain("s3cret");
});

test("a stream that exceeds a limit ends the run with its own code", async () => {
  fixture = await startFixture(
    (request) => ({
      pieces: inRun(idsOf(request.body), [...text("a", "x"), ...text("b", "y")]).map(sseFrame),
    }),
    { gateway: { listenLimits: { runEvents: 5 } } },
  );
  const run = await runClient(`${fixture.url}/agents/support`);
  expect(run.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RUN_LIMIT" });
  expect(run.events).toHaveLength(6);
});
