import { startFakeAgent, startPostgres, startRedis, startTornLine } from "@countersign/testkit";
import type { FakeAgent, RunningPostgres, RunningRedis, TornLine } from "@countersign/testkit";
import { loadConfig, startGateway } from "@countersign/gateway";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { TransportAgent } from "./ag-ui/index.js";
import { createAgentStore } from "./store/create-agent-store.js";
import { sayWords, WORDS } from "./testing/word-agent.js";
import { postSse } from "./transport/post-sse.js";
import type { Transport } from "./transport/transport.js";
import { webSocket } from "./transport/websocket.js";

type Gateway = Awaited<ReturnType<typeof startGateway>>;

const POLICY = `hushspec: "0.1.0"
name: chat
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { enabled: true, default: allow }
`;

let database: RunningPostgres;
let redis: RunningRedis;
let agent: FakeAgent;
let gateways: Gateway[];
let directories: string[];
let line: TornLine;
let logs = 0;

beforeAll(async () => {
  [database, redis] = await Promise.all([startPostgres(), startRedis()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([database?.stop(), redis?.stop()]);
});
beforeEach(async () => {
  agent = await startFakeAgent(sayWords);
  gateways = [];
  directories = [];
  logs += 1;
  for (let number = 0; number < 3; number += 1) {
    const directory = mkdtempSync(join(tmpdir(), "countersign-client-"));
    const [first] = directories;
    directories.push(directory);
    // Gateways of one log share their keys.
    if (first !== undefined)
      cpSync(join(first, "keys"), join(directory, "keys"), { recursive: true });
    writeFileSync(join(directory, "policy.yaml"), POLICY);
    const config = {
      listen: { port: 0 },
      control: { port: 0, console: false },
      agents: { support: { url: agent.url } },
      policy: "policy.yaml",
      receipts: { store: database.url, origin: `client.example/${logs}`, sign: "batch" },
      cluster: { redis: redis.url },
      keys: { directory: "keys" },
    };
    const file = join(directory, "countersign.yaml");
    gateways.push(
      await startGateway(loadConfig(JSON.stringify(config), { file, environment: {} })),
    );
  }
  // A load balancer without stickiness.
  line = await startTornLine(...gateways.map(({ dataUrl }) => Number(new URL(dataUrl).port)));
}, 60_000);
afterEach(async () => {
  await line.stop();
  for (const gateway of gateways) await gateway.close();
  await agent.stop();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const overSse = () => postSse({ url: `${line.url}/agents/support?reconnect=1`, resume: "post" });
const overSocket = () => {
  const url = `${line.url.replace("http", "ws")}/agents/support/ws`;
  return webSocket({ url, resume: true, WebSocket });
};
const takenUp = (): number =>
  gateways.reduce(
    (sum, { gateway }) => sum + gateway.context.telemetry.sharedStreams.results.total,
    0,
  );
const TRANSPORTS: readonly (readonly [string, () => Transport])[] = [
  ["POST and SSE", overSse],
  ["a WebSocket", overSocket],
];

test.each(TRANSPORTS)(
  "over %s, three gateways and a line that tears, each time to another of them, a conversation arrives whole and the agent was asked once",
  async (_, createTransport) => {
    const store = createAgentStore({
      transport: createTransport(),
      reconnect: { attempts: 5, baseMs: 5, maxMs: 20 },
    });
    const textOf = (): string => String(store.getSnapshot().messages.at(-1)?.content ?? "");
    const ended = store.send("one");
    for (const place of [5, 12, 19, 26, 33]) {
      await expect.poll(textOf, { interval: 2, timeout: 10_000 }).toContain(WORDS[place]);
      line.tear();
    }
    expect((await ended).status).toBe("done");
    expect(textOf()).toBe(WORDS.join(""));
    expect(agent.requests).toHaveLength(1);
    expect(takenUp()).toBeGreaterThanOrEqual(3);
    store.close();
  },
  60_000,
);

test("the official client does not notice that its line tore and another gateway goes on", async () => {
  const official = new TransportAgent({ transport: overSse() });
  official.setMessages([{ id: "u1", role: "user", content: "one" }]);
  const textOf = (): string => String(official.messages.at(-1)?.content ?? "");
  const ended = official.runAgent();
  await expect.poll(textOf, { interval: 2, timeout: 10_000 }).toContain(WORDS[10]);
  line.tear();
  await ended;
  expect(textOf()).toBe(WORDS.join(""));
  expect(agent.requests).toHaveLength(1);
  expect(takenUp()).toBe(1);
}, 60_000);
