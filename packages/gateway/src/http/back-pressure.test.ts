import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { Agent } from "node:https";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { runClient } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { selfSigned } from "../testing/self-signed.js";
import { post, sseEvents } from "../testing/transports.js";

let fixture: Fixture | undefined;
const closers: (() => void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await fixture?.stop();
  fixture = undefined;
});

const BIG = "x".repeat(64 * 1024);
const COUNT = 600;
const OPEN = `hushspec: "0.1.0"
name: open
rules:
  ag_ui: { allow_display_without_capability: true, max_events_per_second: 1000000 }
  ag_ui_inbound: { default: allow }
`;

/** Sends forty megabytes for the thread `flood`, and a short response for every other thread. */
function flooding(written: { bytes: number }): FakeScript {
  return (asked) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(asked.body);
      if (ids.threadId !== "flood") {
        yield* inRun(ids, text("m", "quick")).map(sseFrame);
        return;
      }
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m" });
      for (let index = 0; index < COUNT; index++) {
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: BIG });
        written.bytes += BIG.length;
      }
      yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: "m" });
      yield sseFrame({ type: "RUN_FINISHED", ...ids });
    })(),
  });
}

/** Opens the flood and does not read it. */
function openFlood(url: string): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    const asked = request(`${url}/agents/support`, { method: "POST" }, resolve);
    closers.push(() => asked.destroy());
    asked.end(
      JSON.stringify({ threadId: "flood", runId: "r", protocolVersion: "1.0", messages: [] }),
    );
  });
}

async function settled(written: { bytes: number }): Promise<number> {
  let last = -1;
  while (written.bytes !== last) {
    last = written.bytes;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return last;
}

test("a slow reader makes its own agent wait, and no other", async () => {
  const written = { bytes: 0 };
  // Shorter than the pause below: a slow reader must not look like a silent agent.
  fixture = await startFixture(flooding(written), {
    policy: OPEN,
    target: { idleTimeoutMs: 1500 },
  });
  const slow = await openFlood(fixture.url);
  slow.pause();
  const stalled = await settled(written);
  expect(stalled).toBeGreaterThan(0);
  expect(stalled).toBeLessThan((COUNT * BIG.length) / 2);
  await new Promise((resolve) => setTimeout(resolve, 1600));

  const quick = await runClient(`${fixture.url}/agents/support`, { threadId: "other" });
  expect(quick.types.at(-1)).toBe("RUN_FINISHED");
  expect(written.bytes).toBeLessThan((COUNT * BIG.length) / 2);

  let tail = "";
  slow.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("latin1")).slice(-200);
  });
  slow.resume();
  await new Promise((resolve) => slow.once("end", resolve));
  expect(tail).toContain("RUN_FINISHED");
  expect(written.bytes).toBe(COUNT * BIG.length);
});

test("a socket that does not read makes its agent wait too", async () => {
  const written = { bytes: 0 };
  fixture = await startFixture(flooding(written), { policy: OPEN });
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws`);
  closers.push(() => socket.terminate());
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(
    JSON.stringify({ threadId: "flood", runId: "r", protocolVersion: "1.0", messages: [] }),
  );
  socket.pause();
  expect(await settled(written)).toBeLessThan((COUNT * BIG.length) / 2);
  let last = "";
  socket.on("message", (data) => (last = String(data)));
  socket.resume();
  await vi.waitFor(() => expect(last).toContain("RUN_FINISHED"), { timeout: 10_000 });
});

test("a slow store makes the agent wait: events that wait for a receipt are bounded", async () => {
  const written = { bytes: 0 };
  const held: (() => void)[] = [];
  let isHolding = true;
  fixture = await startFixture(flooding(written), {
    policy: OPEN,
    gateway: {
      recorder: {
        appendAll: (drafts) =>
          new Promise((resolve) => {
            const settle = (): void =>
              resolve(drafts.map(({ receipt }) => ({ seq: 0, id: receipt.event_id })));
            if (isHolding && drafts[0]?.direction === "outbound") held.push(settle);
            else settle();
          }),
      },
    },
  });
  const reader = await openFlood(fixture.url);
  reader.resume();
  expect(await settled(written)).toBeLessThan((COUNT * BIG.length) / 2);
  expect(reader.complete).toBe(false);
  isHolding = false;
  for (const settle of held.splice(0)) settle();
  await new Promise((resolve) => reader.once("end", resolve));
  expect(written.bytes).toBe(COUNT * BIG.length);
});

test("headers are sent before the first event, and an idle stream gets heartbeats", async () => {
  let speak = (): void => {};
  const silence = new Promise<void>((resolve) => {
    speak = resolve;
  });
  fixture = await startFixture(
    (asked) => ({
      pieces: (async function* () {
        await silence;
        yield* inRun(idsOf(asked.body), []).map(sseFrame);
      })(),
    }),
    { gateway: { heartbeatMs: 20 } },
  );
  const response = await post(`${fixture.url}/ag-ui/run`, { threadId: "t", runId: "r" });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toMatch(/^:.*\n\n$/u);
  speak();
  let body = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    body += new TextDecoder().decode(part.value);
  }
  expect(sseEvents(body).map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
});

function ask(
  session: ClientHttp2Session,
  threadId: string,
): ReturnType<ClientHttp2Session["request"]> {
  const stream = session.request({ ":method": "POST", ":path": "/agents/support" });
  stream.end(JSON.stringify({ threadId, runId: "r", protocolVersion: "1.0", messages: [] }));
  return stream;
}

test("with TLS the listener serves HTTP/1.1 and HTTP/2, where a slow stream does not delay another", async () => {
  const written = { bytes: 0 };
  const tls = selfSigned();
  fixture = await startFixture(flooding(written), { policy: OPEN, gateway: { tls } });
  const port = new URL(fixture.url).port;
  const session = connect(`https://localhost:${port}`, { ca: tls.cert });
  closers.push(() => session.destroy());
  const slow = ask(session, "flood");
  slow.pause();
  expect(await settled(written)).toBeLessThan((COUNT * BIG.length) / 2);

  const quick = ask(session, "other");
  let body = "";
  quick.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
  await new Promise((resolve) => quick.once("end", resolve));
  expect(sseEvents(body).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  slow.destroy();
  await vi.waitFor(() => expect(fixture?.agentRequests[0]?.signal.aborted).toBe(true));

  const socket = new WebSocket(`wss://localhost:${port}/ws`, {
    agent: new Agent({ ca: tls.cert }),
  });
  closers.push(() => socket.terminate());
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
});
