import { startTornLine } from "@countersign/testkit";
import type { TornLine } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { TransportAgent } from "./ag-ui/index.js";
import { createAgentStore } from "./store/create-agent-store.js";
import { startChatGateway } from "./testing/chat-gateway.js";
import type { ChatGateway } from "./testing/chat-gateway.js";
import { sayWords, WORDS } from "./testing/word-agent.js";
import { postSse } from "./transport/post-sse.js";
import type { Transport } from "./transport/transport.js";
import { webSocket } from "./transport/websocket.js";

let served: ChatGateway;
let agent: ChatGateway["agent"];
let gateway: ChatGateway["gateway"];
let line: TornLine;
beforeEach(async () => {
  served = await startChatGateway(sayWords);
  ({ agent, gateway } = served);
  line = await startTornLine(served.port);
});
afterEach(async () => {
  await line.stop();
  await served.stop();
});

const TRANSPORTS: readonly (readonly [string, () => Transport])[] = [
  [
    "POST and SSE",
    () => postSse({ url: `${line.url}/agents/support?reconnect=1`, resume: "post" }),
  ],
  [
    "a WebSocket",
    () => {
      const url = `${line.url.replace("http", "ws")}/agents/support/ws`;
      return webSocket({ url, resume: true, WebSocket });
    },
  ],
];

test.each(TRANSPORTS)(
  "over %s on a line that tears again and again a conversation arrives whole, and the agent was asked once a question",
  async (_, createTransport) => {
    const store = createAgentStore({
      transport: createTransport(),
      reconnect: { attempts: 5, baseMs: 5, maxMs: 20 },
    });
    const seen = new Set<string>();
    store.subscribe(() => void seen.add(store.getSnapshot().status));
    const textOf = (): string => String(store.getSnapshot().messages.at(-1)?.content ?? "");
    for (const question of ["one", "two"]) {
      const ended = store.send(question);
      for (const place of [5, 15, 30]) {
        await expect.poll(textOf, { interval: 2 }).toContain(WORDS[place]);
        line.tear();
      }
      expect((await ended).status).toBe("done");
      expect(textOf()).toBe(WORDS.join(""));
    }
    expect(seen).toContain("reconnecting");
    expect(agent.requests).toHaveLength(2);
    expect(line.connections()).toBeGreaterThanOrEqual(6);
    store.close();
  },
);

test("without being asked to, a gateway keeps nothing: a torn line fails the run", async () => {
  const store = createAgentStore({
    transport: postSse({ url: `${line.url}/agents/support`, resume: "post" }),
    reconnect: { attempts: 5, baseMs: 5, maxMs: 20 },
  });
  const ended = store.send("one");
  await expect.poll(() => store.getSnapshot().messages.length, { interval: 2 }).toBe(2);
  line.tear();
  expect(await ended).toMatchObject({ status: "failed" });
  expect(agent.requests).toHaveLength(1);
  store.close();
});

/** An agent for the official client, with a question. */
function officialAgent(): TransportAgent {
  const agent = new TransportAgent({
    transport: postSse({
      url: `${line.url}/agents/support?reconnect=1`,
      resume: "post",
      stopUrl: `${line.url}/ag-ui/stop`,
    }),
  });
  agent.setMessages([{ id: "u1", role: "user", content: "one" }]);
  return agent;
}

test("the official client does not notice that its line tore", async () => {
  const official = officialAgent();
  const textOf = (): string => String(official.messages.at(-1)?.content ?? "");
  const ended = official.runAgent();
  await expect.poll(textOf, { interval: 2 }).toContain(WORDS[10]);
  line.tear();
  await ended;
  expect(textOf()).toBe(WORDS.join(""));
  expect(agent.requests).toHaveLength(1);
});

test("an official client that aborts stops the agent, which would otherwise wait for it", async () => {
  const official = officialAgent();
  const ended = official.runAgent().catch(() => undefined);
  await expect.poll(() => official.messages.length, { interval: 2 }).toBe(2);
  official.abortRun();
  await ended;
  await expect.poll(() => agent.requests[0]?.signal.aborted).toBe(true);
  expect(gateway.context.sessions.openRuns()).toHaveLength(0);
});
