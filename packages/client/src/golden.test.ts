import { HttpAgent } from "@ag-ui/client";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAgent } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { TransportAgent } from "./ag-ui/index.js";
import { checkOrder } from "./order/index.js";
import type { AgentStoreOptions } from "./store/agent-store.js";
import { createAgentStore } from "./store/create-agent-store.js";
import { GOLDEN, GOLDEN_END } from "./testing/golden.js";
import { postSse } from "./transport/post-sse.js";
import { webSocket } from "./transport/websocket.js";
import type { WebSocketOptions } from "./transport/websocket.js";

let agent: FakeAgent;
beforeAll(async () => {
  agent = await startFakeAgent(({ method }) => ({
    pieces: GOLDEN.map((event) => (method === "WS" ? JSON.stringify(event) : sseFrame(event))),
  }));
});
afterAll(() => agent.stop());

const ids = { threadId: "thread", runId: "run-1" };
const question = { id: "message-1", role: "user", content: "Plan my Monday" } as const;

function socket() {
  return webSocket({
    url: agent.webSocketUrl,
    WebSocket: WebSocket as unknown as NonNullable<WebSocketOptions["WebSocket"]>,
  });
}

async function throughStore(options: Pick<AgentStoreOptions, "transport" | "order">) {
  const store = createAgentStore({ ...options, threadId: "thread", mintId: (kind) => `${kind}-1` });
  const { messages, state, interrupts, status } = await store.send(question.content);
  store.close();
  expect(status).toBe("waiting");
  return { messages, state, interrupts };
}

async function throughOfficial(official: HttpAgent | TransportAgent) {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  official.addMessage({ ...question });
  try {
    await official.runAgent({ runId: ids.runId });
  } finally {
    warned.mockRestore();
  }
  const { messages, state, pendingInterrupts } = official;
  return { messages, state, interrupts: pendingInterrupts };
}

/** Members that are absent and members that are undefined mean the same. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("the golden recording adds up to the same over SSE and over a WebSocket", async () => {
  expect(plain(await throughStore({ transport: postSse({ url: agent.url }) }))).toEqual(GOLDEN_END);
  expect(plain(await throughStore({ transport: socket() }))).toEqual(GOLDEN_END);
});

test("the golden recording breaks no ordering rule", async () => {
  const transport = postSse({ url: agent.url });
  const end = await throughStore({ transport, order: checkOrder({ strict: true }) });
  expect(plain(end)).toEqual(GOLDEN_END);
});

test("the official client comes to the same state", async () => {
  const official = new HttpAgent({ url: agent.url, threadId: "thread" });
  expect(plain(await throughOfficial(official))).toEqual(GOLDEN_END);
});

test("the official client over our WebSocket transport comes to the same state", async () => {
  const transport = socket();
  const official = new TransportAgent({ transport, threadId: "thread" });
  expect(plain(await throughOfficial(official))).toEqual(GOLDEN_END);
  transport.close?.();
});
