import { startTornLine } from "@countersign/testkit";
import type { TornLine } from "@countersign/testkit";
import { randomBytes } from "node:crypto";
import type { AddressInfo, Server } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TransportAgent } from "./ag-ui/index.js";
import { createAgentStore } from "./store/create-agent-store.js";
import { startChatGateway } from "./testing/chat-gateway.js";
import type { ChatGateway } from "./testing/chat-gateway.js";
import { sayWords, WORDS } from "./testing/word-agent.js";
import { postSse } from "./transport/post-sse.js";

let gateways: ChatGateway[];
let line: TornLine;
beforeEach(async () => {
  gateways = [];
  const relayPlaneOf = (tag: string): Server => {
    const index = Number.parseInt(tag, 10);
    return (gateways[index] as ChatGateway).gateway.relayPlane as Server;
  };
  for (const tag of ["0", "1", "2"]) {
    const served = await startChatGateway(sayWords, {
      relay: {
        key: new Uint8Array(32).fill(1),
        // The tag of a gateway, and what is its stream's own.
        names: {
          create: () => tag + randomBytes(15).toString("hex"),
          gatewayOf: (name) => name.at(0),
        },
        find: async (found) => {
          const { port } = relayPlaneOf(found).address() as AddressInfo;
          return found === tag
            ? undefined
            : { id: found, address: { host: "127.0.0.1", port }, isListed: true };
        },
      },
    });
    gateways.push(served);
    await new Promise<void>((resolve) => relayPlaneOf(tag).listen(0, "127.0.0.1", resolve));
  }
  // A load balancer without stickiness.
  line = await startTornLine(...gateways.map(({ port }) => port));
});
afterEach(async () => {
  await line.stop();
  for (const served of gateways) await served.stop();
});

const transport = () => postSse({ url: `${line.url}/agents/support?reconnect=1`, resume: "post" });
const asked = (): number => gateways.reduce((sum, { agent }) => sum + agent.requests.length, 0);
const relayed = (): number =>
  gateways.reduce((sum, { gateway }) => sum + gateway.context.telemetry.relays.results.total, 0);

test("over three gateways and a line that tears, each time to another of them, a conversation arrives whole and the agent was asked once", async () => {
  const store = createAgentStore({
    transport: transport(),
    reconnect: { attempts: 5, baseMs: 5, maxMs: 20 },
  });
  const textOf = (): string => String(store.getSnapshot().messages.at(-1)?.content ?? "");
  const ended = store.send("one");
  for (const place of [5, 12, 19, 26, 33]) {
    await expect.poll(textOf, { interval: 2 }).toContain(WORDS[place]);
    line.tear();
  }
  expect((await ended).status).toBe("done");
  expect(textOf()).toBe(WORDS.join(""));
  expect(asked()).toBe(1);
  expect(relayed()).toBeGreaterThanOrEqual(3);
  store.close();
});

test("the official client does not notice that its line tore and another gateway goes on", async () => {
  const official = new TransportAgent({ transport: transport() });
  official.setMessages([{ id: "u1", role: "user", content: "one" }]);
  const textOf = (): string => String(official.messages.at(-1)?.content ?? "");
  const ended = official.runAgent();
  await expect.poll(textOf, { interval: 2 }).toContain(WORDS[10]);
  line.tear();
  await ended;
  expect(textOf()).toBe(WORDS.join(""));
  expect(asked()).toBe(1);
  expect(relayed()).toBe(1);
});
