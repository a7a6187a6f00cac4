import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent, FakeAnswer, FakePiece } from "@countersign/testkit";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { idsOf, inRun, message } from "./harness/agent.js";
import { finishRun, openRun, timeGet } from "./harness/client.js";
import { startGateway } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const MEGABYTE = 1024 * 1024;
const READERS = scaled(30, 90);

/** For threads that begin with `flood`, as much as anybody takes; a short answer for the others. */
async function floodingAgent(written: Map<string, number>, deltaBytes: number): Promise<FakeAgent> {
  const delta = "x".repeat(deltaBytes);
  const agent = await startFakeAgent((request): FakeAnswer => {
    const ids = idsOf(request);
    if (!ids.threadId.startsWith("flood")) {
      return { pieces: inRun(ids, message("m", "quick")).map(sseFrame) };
    }
    return {
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" });
        const frame = sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });
        while (!request.signal.aborted) {
          yield frame;
          written.set(ids.threadId, (written.get(ids.threadId) ?? 0) + frame.length);
        }
      })(),
    };
  });
  scene.defer(() => agent.stop());
  return agent;
}

/** Opens a flood over a bare socket that is never read: not one byte leaves the kernel's buffer. */
function openDeaf(gateway: GatewayProcess, threadId: string): void {
  const { hostname, port } = new URL(gateway.url);
  const body = JSON.stringify({ threadId, runId: "r", protocolVersion: "1.0", messages: [] });
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  socket.on("error", () => {});
  socket.write(
    `POST /agents/support HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  scene.defer(() => socket.destroy());
}

function openDeafSocket(gateway: GatewayProcess, threadId: string): void {
  const socket = new WebSocket(`${gateway.webSocketUrl}/ws`);
  socket.on("error", () => {});
  socket.once("open", () => {
    socket.send(JSON.stringify({ threadId, runId: "r", protocolVersion: "1.0", messages: [] }));
    socket.pause();
  });
  scene.defer(() => socket.terminate());
}

const total = (written: Map<string, number>): number =>
  [...written.values()].reduce((sum, bytes) => sum + bytes, 0);

async function openDeafReaders(
  gateway: GatewayProcess,
  count: number,
  written: Map<string, number>,
): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    if (index % 3 === 0) openDeafSocket(gateway, `flood-${index}`);
    else openDeaf(gateway, `flood-${index}`);
  }
  await until("every flood has begun", () => written.size === count, 60_000);
}

test(`${READERS} clients that never read: their agents wait, memory is bounded, and everybody else is served`, async () => {
  const written = new Map<string, number>();
  const agent = await floodingAgent(written, 64 * 1024);
  const gateway = await startGateway(scene, { agent: { url: agent.url, idle_timeout: 600 } });
  await finishRun(gateway.url);
  const before = await gateway.inspector.memory();
  await openDeafReaders(gateway, READERS, written);
  let last = -1;
  await until(
    "the agents wait",
    async () => {
      const moved = total(written) - last;
      last = total(written);
      await pause(1000);
      return moved < MEGABYTE;
    },
    90_000,
  );
  // Ours per stream, once garbage is collected: at most 4 MB that wait for receipts, in two or three forms,
  // and what Node buffers for the two sockets.
  const after = await gateway.inspector.memory();
  const inUse = (after.heapUsed + after.external - before.heapUsed - before.external) / READERS;
  const resident = (after.rss - before.rss) / READERS;
  expect(inUse).toBeLessThan(8 * MEGABYTE);
  expect(resident).toBeLessThan(16 * MEGABYTE);
  // The kernel keeps some megabytes for each connection, and no more: nobody drains the agent.
  expect(Math.max(...written.values())).toBeLessThan(32 * MEGABYTE);
  for (let index = 0; index < 5; index += 1) {
    const quick = await finishRun(gateway.url);
    expect(quick.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  }
  report(
    `${READERS} readers that never read: ${(inUse / MEGABYTE).toFixed(2)} MB in use for each, ${(resident / MEGABYTE).toFixed(2)} MB resident`,
  );
}, 150_000);

test(`while ${READERS} agents flood with small events, somebody else's request is answered`, async () => {
  const written = new Map<string, number>();
  const agent = await floodingAgent(written, 40);
  const gateway = await startGateway(scene, {
    agent: { url: agent.url, idle_timeout: 600 },
    config: { receipts: { store: "sqlite:receipts", sign: "batch" } },
  });
  await finishRun(gateway.url);
  await gateway.inspector.evaluate(
    "void (globalThis.delay = process.getBuiltinModule('perf_hooks').monitorEventLoopDelay({ resolution: 5 })).enable()",
  );
  await openDeafReaders(gateway, READERS, written);
  const pings: number[] = [];
  const finished: number[] = [];
  const until = Date.now() + scaled(4000, 15_000);
  while (Date.now() < until) {
    const { status, milliseconds } = await timeGet(`${gateway.url}/ping`);
    expect(status).toBe(200);
    pings.push(milliseconds);
    const started = Date.now();
    const quick = await finishRun(gateway.url);
    expect(quick.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    finished.push(Date.now() - started);
  }
  const [median, worst] = await gateway.inspector.evaluate<[number, number]>(
    "[delay.percentile(50) / 1e6, delay.max / 1e6]",
  );
  report(
    `${READERS} floods of small events: ping ${summary(pings)}, a short run ${summary(finished)}, event loop late by ${median.toFixed(0)} ms (median), ${worst.toFixed(0)} ms (at most)`,
  );
}, 120_000);

function summary(samples: number[]): string {
  const sorted = samples.toSorted((left, right) => left - right);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number).toFixed(0);
  return `${at(0.5)} ms (median of ${sorted.length}), ${at(1)} ms (at most)`;
}

test("a reader that stops and comes back gets everything, in order", async () => {
  const count = 2000;
  const delta = "y".repeat(20_000);
  const agent = await startFakeAgent((request) => ({
    pieces: inRun(
      idsOf(request),
      message("m", ...Array.from({ length: count }, (_, index) => `${index} ${delta}`)),
    ).map(sseFrame),
  }));
  scene.defer(() => agent.stop());
  const gateway = await startGateway(scene, { agent: agent.url });
  const seen: string[] = [];
  const run = openRun(gateway.url, {
    onEvent: (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT")
        seen.push(String(event["delta"]).split(" ")[0] as string);
      else seen.push(event.type);
      if (seen.length % 700 === 0) {
        run.pause();
        setTimeout(run.resume, 300);
      }
    },
  });
  await run.ended;
  expect(seen).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    ...Array.from({ length: count }, (_, index) => String(index)),
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});
