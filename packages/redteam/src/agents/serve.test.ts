import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { documentOf, HELLO } from "../runner/testing/scripted.js";
import { runDocument } from "../runner/run-document.js";
import { createHardenedAgent } from "./hardened/agent.js";
import { serveAgent } from "./serve.js";
import { createVulnerableAgent } from "./vulnerable/agent.js";

const ANSWERED = "{surface: run_finished, target: runId, pattern: {condition: {exists: true}}}";
const raw = (text: string): string =>
  `{mode: ag_ui_client, phases: [{state: {run_agent_input: {}}, x-countersign-body: ${JSON.stringify(text)}}]}`;

test.each([
  ["vulnerable", createVulnerableAgent],
  ["hardened", createHardenedAgent],
])("the %s agent survives what it cannot read, over every transport", async (_, create) => {
  const agent = await serveAgent(create());
  const targets = [
    { target: agent.url },
    { target: agent.url, transport: "get" as const },
    { target: agent.webSocketUrl },
  ];
  for (const options of targets) {
    for (const text of ["", "{", "[1]", "null", '{"messages":1}', "\u0000"]) {
      await runDocument(documentOf(raw(text), ANSWERED), options);
    }
    const ran = await runDocument(documentOf(HELLO, ANSWERED), options);
    expect(ran.outcome).toBe("exploited");
  }
  await agent.close();
});

test("a body over the limit is refused", async () => {
  const agent = await serveAgent(createHardenedAgent());
  const body = JSON.stringify({ x: "y".repeat(1_100_000) });
  const response = await fetch(agent.url, { method: "POST", body });
  expect(response.status).toBe(413);
  await agent.close();
});

test("a port that is taken is the system's error, told once, and the agent that has it goes on", async () => {
  const agent = await serveAgent(createHardenedAgent());
  const port = Number(new URL(agent.url).port);
  await expect(serveAgent(createHardenedAgent(), port)).rejects.toMatchObject({
    code: "EADDRINUSE",
    address: "127.0.0.1",
    port,
  });
  expect((await fetch(agent.url, { method: "POST", body: "{" })).status).toBe(415);
  await agent.close();
});

test("a frame that breaks the protocol ends its socket alone", async () => {
  const agent = await serveAgent(createHardenedAgent());
  for (const [bytes, code] of [
    [new Uint8Array([0xff]), 1007],
    [new Uint8Array(1_100_000), 1009],
  ] as const) {
    const socket = new WebSocket(agent.webSocketUrl);
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.on("close", resolve));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(bytes, { binary: false });
    expect(await closed).toBe(code);
  }
  expect((await fetch(agent.url, { method: "POST", body: "{" })).status).toBe(415);
  await agent.close();
});
