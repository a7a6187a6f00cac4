import { startFakeAgent } from "@countersign/testkit";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { chatter } from "./harness/agent.js";
import { openRun, timeGet } from "./harness/client.js";
import { startGateway } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();
const CONNECTS = scaled(1500, 6000);
const SESSIONS = 50;

/** One visitor of the storm: connects, and leaves at one moment or another. */
async function visit(gateway: GatewayProcess, index: number): Promise<void> {
  const session = `s-${index % SESSIONS}`;
  if (index % 4 === 0) {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /agents/support HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
    await pause(index % 7);
    if (index % 8 === 0) socket.resetAndDestroy();
    else socket.destroy();
    return;
  }
  if (index % 4 === 1) {
    const socket = new WebSocket(`${gateway.webSocketUrl}/ws?session=${session}`);
    socket.on("error", () => {});
    const input = {
      threadId: `t-${index}`,
      runId: `r-${index}`,
      protocolVersion: "1.0",
      messages: [],
    };
    socket.on("open", () => socket.send(JSON.stringify(input)));
    await pause(10 + (index % 30));
    socket.terminate();
    return;
  }
  const run = openRun(gateway.url, { path: `/agents/support?session=${session}` });
  await pause(index % 40);
  run.abort();
  await run.ended;
}

test(`${CONNECTS} clients that connect and leave: every agent is let go, connections and memory come back`, async () => {
  const open = new Set<AbortSignal>();
  const agent = await startFakeAgent((request) => {
    open.add(request.signal);
    request.signal.addEventListener("abort", () => open.delete(request.signal), { once: true });
    return chatter(request, 5);
  });
  scene.defer(() => agent.stop());
  const gateway = await startGateway(scene, {
    agent: agent.url,
    config: { receipts: { store: "sqlite:receipts", sign: "batch" } },
  });
  let next = 0;
  const storm = async (end: number): Promise<void> => {
    const visitor = async (): Promise<void> => {
      while (next < end) {
        next += 1;
        await visit(gateway, next);
      }
    };
    await Promise.all(Array.from({ length: 64 }, visitor));
    agent.requests.length = 0;
    await until("every agent is let go", () => open.size === 0);
  };
  const calm = gateway.sockets();
  await storm(Math.floor(CONNECTS / 2));
  await until("connections are closed", () => gateway.sockets() <= calm + 70);
  const before = await gateway.inspector.memory();
  await storm(CONNECTS);
  // The agent's side keeps up to 64 idle connections for a few seconds, and then none.
  await until("sockets come back", () => gateway.sockets() <= calm + 2, 30_000);
  const after = await gateway.inspector.memory();
  expect(after.heapUsed + after.external).toBeLessThan((before.heapUsed + before.external) * 1.1);
  expect((await timeGet(`${gateway.url}/readyz`)).status).toBe(200);
  report(
    `${CONNECTS} connects and leaves: ${gateway.sockets()} sockets (${calm} before), heap ${before.heapUsed} → ${after.heapUsed} bytes`,
  );
}, 180_000);
