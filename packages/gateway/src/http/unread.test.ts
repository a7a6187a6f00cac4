import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { idsOf } from "../testing/events.js";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

let fixture: Fixture | undefined;
const closers: (() => void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await fixture?.stop();
  fixture = undefined;
});

const INPUT = JSON.stringify({ threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] });

/** Sends words without an end, as fast as they are read; `quiet` sends nothing after its start. */
const talking =
  (isQuiet: boolean): FakeScript =>
  (asked) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      yield sseFrame({ type: "RUN_STARTED", ...idsOf(asked.body) });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m" });
      const delta = "x".repeat(64 * 1024);
      while (!asked.signal.aborted) {
        if (isQuiet) await new Promise((resolve) => setTimeout(resolve, 20));
        else yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });
      }
    })(),
  });

async function start(isQuiet: boolean): Promise<Fixture> {
  const policy = OPEN_POLICY.replace("    enabled: true\n", "    max_events_per_second: 1000000\n");
  fixture = await startFixture(talking(isQuiet), { policy, gateway: { heartbeatMs: 100 } });
  return fixture;
}

function openStream(url: string): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    const asked = request(`${url}/agents/support`, { method: "POST" }, resolve);
    asked.on("error", () => {});
    closers.push(() => asked.destroy());
    asked.end(INPUT);
  });
}

const isLetGo = (): boolean | undefined => fixture?.agentRequests[0]?.signal.aborted;

test("a stream that is not read for several heartbeats is closed, and its agent's connection with it", async () => {
  const { url } = await start(false);
  const answer = await openStream(url);
  answer.pause();
  await vi.waitFor(() => expect(isLetGo()).toBe(true), { timeout: 10_000 });
});

test("a socket that answers no ping is closed, and its agent's connection with it", async () => {
  const { webSocketUrl } = await start(true);
  const socket = new WebSocket(`${webSocketUrl}/ws`);
  closers.push(() => socket.terminate());
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(INPUT);
  await new Promise((resolve) => socket.once("message", resolve));
  socket.pause();
  await vi.waitFor(() => expect(isLetGo()).toBe(true), { timeout: 10_000 });
});

test("clients that read keep an idle stream for as long as they like", async () => {
  const { url, webSocketUrl } = await start(true);
  const answer = await openStream(url);
  answer.resume();
  const socket = new WebSocket(`${webSocketUrl}/ws`);
  closers.push(() => socket.terminate());
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(INPUT.replace('"t"', '"u"'));
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(fixture?.agentRequests.map(({ signal }) => signal.aborted)).toEqual([false, false]);
});
