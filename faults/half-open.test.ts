import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakePiece } from "@countersign/testkit";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { idsOf, inRun, message } from "./harness/agent.js";
import { finishRun } from "./harness/client.js";
import { startGateway } from "./harness/gateway.js";
import { until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const MEGABYTE = 1024 * 1024;

test("a client that freezes without closing is let go after some heartbeats, its agent too, and nobody else notices", async () => {
  const released: string[] = [];
  const agent = await startFakeAgent((request) => ({
    pieces: (async function* (): AsyncGenerator<FakePiece> {
      const ids = idsOf(request);
      if (!ids.threadId.startsWith("frozen")) {
        yield* inRun(ids, message(`m-${ids.runId}`, "hi")).map(sseFrame);
        return;
      }
      request.signal.addEventListener("abort", () => released.push(ids.threadId), { once: true });
      yield sseFrame({ type: "RUN_STARTED", ...ids });
      yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" });
      const delta = "z".repeat(16 * 1024);
      while (!request.signal.aborted) {
        yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta });
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    })(),
  }));
  scene.defer(() => agent.stop());
  const gateway = await startGateway(scene, {
    agent: agent.url,
    config: { listen: { host: "127.0.0.1", port: 0, heartbeat: 0.5 } },
  });
  await finishRun(gateway.url);
  const before = gateway.residentBytes();
  const program = fileURLToPath(new URL("harness/client-process.mjs", import.meta.url));
  const frozen = Array.from({ length: 5 }, (_, index) => {
    const child = spawn(process.execPath, [program, gateway.url, `frozen-${index}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    scene.defer(() => child.kill("SIGKILL"));
    return new Promise((resolve) => {
      child.stdout.once("data", () => {
        child.kill("SIGSTOP");
        resolve(child);
      });
    });
  });
  await Promise.all(frozen);
  const during = await finishRun(gateway.url);
  expect(during.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  await until("the agents of the frozen are let go", () => released.length === 5, 60_000);
  expect(gateway.residentBytes() - before).toBeLessThan(150 * MEGABYTE);
  const after = await finishRun(gateway.url);
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
}, 90_000);
