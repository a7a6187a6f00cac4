import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { expect, test } from "vitest";
import { gone, idsOf, inRun, message } from "./harness/agent.js";
import { codeOf, finishRun, openRun } from "./harness/client.js";
import { startGateway } from "./harness/gateway.js";
import type { GatewayProcess, GatewaySettings } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { IS_PATIENT, pause, report, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const MEGABYTE = 1024 * 1024;

async function start(script: FakeScript, settings: GatewaySettings = {}): Promise<GatewayProcess> {
  const agent = await startFakeAgent(script);
  scene.defer(() => agent.stop());
  const { agent: given } = settings;
  const target = typeof given === "object" ? given : {};
  return startGateway(scene, { ...settings, agent: { ...target, url: agent.url } });
}

test("an agent that writes one byte at a time is read as if it had written all at once", async () => {
  const words = "Grüße, 你好, 👩🏽‍🚀 \u2028 done";
  const gateway = await start((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const text = inRun(idsOf(request), message("m", words)).map(sseFrame).join("");
      for (const byte of Buffer.from(text.replaceAll("\n", "\r\n"))) {
        yield Buffer.of(byte);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    })(),
  }));
  const run = await finishRun(gateway.url);
  expect(run.events).toEqual(
    inRun({ threadId: run.threadId, runId: run.runId }, message("m", words)),
  );
});

test("an event of a megabyte passes whole, and its receipt names it", async () => {
  const delta = "é✓".repeat(MEGABYTE / 5);
  const gateway = await start((request) => ({
    pieces: inRun(idsOf(request), message("m", delta)).map(sseFrame),
  }));
  const run = await finishRun(gateway.url);
  expect(run.events[2]).toEqual({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });
  expect(run.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(await gateway.stop()).toBe(0);
  expect(unreceipted(await checkLog(gateway.directory), [run])).toEqual([]);
});

test("a frame without an end is refused at the limit, the agent is hung up on, and memory comes back", async () => {
  const written = { bytes: 0, hungUp: 0 };
  const gateway = await start((request) => {
    const ids = idsOf(request);
    if (ids.threadId.startsWith("short")) {
      return { pieces: inRun(ids, message("m", "hi")).map(sseFrame) };
    }
    return {
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        yield 'data: {"type":"CUSTOM","name":"x","value":"';
        const filler = "A".repeat(64 * 1024);
        while (!request.signal.aborted) {
          yield filler;
          written.bytes += filler.length;
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
        }
        written.hungUp += 1;
      })(),
    };
  });
  await finishRun(gateway.url, { threadId: "short-1" });
  const before = await gateway.inspector.memory();
  const endless = Array.from({ length: 8 }, () => openRun(gateway.url));
  await Promise.all(endless.map(({ ended }) => ended));
  for (const run of endless) {
    expect(codeOf(run)).toBe("GATEWAY_LIMIT");
    expect(run.texts.join("")).not.toContain("AAAA");
  }
  await until("every agent is hung up on", () => written.hungUp === endless.length);
  // The limit of a frame is 10 MB; the rest is what the kernel and the agent itself had buffered.
  expect(written.bytes / endless.length).toBeLessThan(24 * MEGABYTE);
  await finishRun(gateway.url, { threadId: "short-2" });
  const after = await gateway.inspector.memory();
  expect(after.heapUsed + after.external).toBeLessThan((before.heapUsed + before.external) * 1.5);
}, 60_000);

test("a long silence: heartbeats keep the stream open, an agent that is allowed to think may, and nothing is invented", async () => {
  // The real ten minutes with LONG=1; otherwise the same proportions, a hundred times as fast.
  const [silence, heartbeat, idle] = IS_PATIENT ? [600, 15, 900] : [6, 0.15, 9];
  const gateway = await start(
    (request) => ({
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        const events = inRun(idsOf(request), message("m", "at last"));
        yield* events.slice(0, 2).map(sseFrame);
        await Promise.race([pause(silence * 1000), gone(request)]);
        yield* events.slice(2).map(sseFrame);
      })(),
    }),
    {
      agent: { idle_timeout: idle },
      config: { listen: { host: "127.0.0.1", port: 0, heartbeat } },
    },
  );
  const run = openRun(gateway.url);
  await until("the run has begun", () => run.events.length === 2);
  await pause(silence * 900);
  expect(run.events).toHaveLength(2);
  expect(run.heartbeats).toBeGreaterThanOrEqual(Math.floor((silence / heartbeat) * 0.6));
  await run.ended;
  expect(run.isComplete).toBe(true);
  expect(run.events.map(({ type }) => type)).toEqual(
    inRun(run, message("m", "at last")).map(({ type }) => type),
  );
  report(`${silence} s of silence: ${run.heartbeats} heartbeats`);
}, 700_000);

test("silence beyond what the agent is allowed ends the run with an error, not with a finish", async () => {
  const gateway = await start(
    (request) => ({
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        yield sseFrame({ type: "RUN_STARTED", ...idsOf(request) });
        await gone(request);
      })(),
    }),
    { agent: { idle_timeout: 1 }, config: { listen: { port: 0, heartbeat: 0.2 } } },
  );
  const run = await finishRun(gateway.url);
  expect(codeOf(run)).toBe("AGENT_TIMEOUT");
  expect(run.heartbeats).toBeGreaterThan(2);
});
