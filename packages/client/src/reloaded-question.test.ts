import { readFileSync } from "node:fs";
import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { AgentSnapshot, AgentStore } from "./index.js";
import { createAgentStore } from "./store/create-agent-store.js";
import { startChatGateway } from "./testing/chat-gateway.js";
import type { ChatGateway } from "./testing/chat-gateway.js";
import { postSse } from "./transport/post-sse.js";
import type { Transport } from "./transport/transport.js";
import { webSocket } from "./transport/websocket.js";

const QUESTION = { id: "i1", reason: "tool_call", message: "Pay?", toolCallId: "c1" };

/** Whether the agent asks an open question again when it is called without an answer. */
let asksAgain = true;
const open = new Set<string>();

/** Asks about a payment until the person answers. */
function* agent({ body }: FakeRequest): Generator<string> {
  const { threadId, runId, resume, messages } = JSON.parse(body) as {
    threadId: string;
    runId: string;
    resume?: object[];
    messages: object[];
  };
  yield sseFrame({ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" });
  const isFirst = messages.length > 0 && !open.has(threadId) && resume === undefined;
  if (isFirst) {
    const call = { toolCallId: "c1", toolCallName: "pay" };
    yield sseFrame({ type: "TOOL_CALL_START", ...call });
    yield sseFrame({ type: "TOOL_CALL_END", toolCallId: "c1" });
    open.add(threadId);
  }
  const outcome = { type: "interrupt", interrupts: [QUESTION] };
  const asks = resume === undefined && (isFirst || asksAgain);
  yield sseFrame({ type: "RUN_FINISHED", threadId, runId, ...(asks ? { outcome } : {}) });
}

let served: ChatGateway;
beforeAll(async () => {
  served = await startChatGateway((request) => ({ pieces: agent(request) }));
});
afterAll(() => served.stop());

const TRANSPORTS: [string, () => Transport][] = [
  ["POST", () => postSse({ url: `http://${served.address}/agents/support` })],
  [
    "a WebSocket",
    () => webSocket({ url: `ws://${served.address}/agents/support/ws?session=page`, WebSocket }),
  ],
];

/** A page that asks, and the same page after a reload. */
async function reloaded(transport: () => Transport): Promise<AgentStore> {
  const before = createAgentStore({ transport: transport() });
  expect(await before.send("pay")).toMatchObject({ status: "waiting" });
  const { threadId } = before.getSnapshot();
  before.close();
  return createAgentStore({ transport: transport(), threadId });
}

const yes = { interruptId: "i1", status: "resolved", payload: { approved: true } } as const;

test.each(TRANSPORTS)(
  "over %s a reloaded page fetches the question and answers it",
  async (_, transport) => {
    asksAgain = true;
    const store = await reloaded(transport);
    expect(await store.send()).toMatchObject({ status: "waiting", interrupts: [QUESTION] });
    expect(await store.resume([yes])).toMatchObject({ status: "done", interrupts: [] });
    store.close();
  },
);

test.each(TRANSPORTS)(
  "over %s a reloaded page answers an interrupt that the gateway reports",
  async (_, transport) => {
    asksAgain = false;
    const store = await reloaded(transport);
    await expect(store.resume([yes])).rejects.toMatchObject({ code: "ERR_CLIENT_INTERRUPTS" });
    const { status, problem } = await store.send("hello");
    expect({ status, problem }).toMatchObject({
      status: "failed",
      problem: { code: "ERR_RESUME_INCOMPLETE", interrupts: ["i1"] },
    });
    const other = { interruptId: "i2", status: "cancelled" } as const;
    for (const wrong of [[], [other], [yes, other], [yes, yes]]) {
      await expect(store.resume(wrong)).rejects.toMatchObject({ code: "ERR_CLIENT_INTERRUPTS" });
    }
    expect(await store.resume([yes])).toMatchObject({ status: "done", problem: undefined });
    await expect(store.resume([yes])).rejects.toMatchObject({ code: "ERR_CLIENT_INTERRUPTS" });
    expect(await store.send("next")).toMatchObject({ status: "done" });
    store.close();
  },
);

type SendAfterReload = (store: AgentStore, text: string) => Promise<AgentSnapshot>;

/** The function of the documentation. */
async function documented(): Promise<SendAfterReload> {
  const page = readFileSync(
    new URL("../../../docs/client/errors-and-questions.md", import.meta.url),
    "utf8",
  );
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? "");
  const source = blocks.find((code) => code.includes("function sendAfterReload")) ?? "";
  const { code } = await transform(`${source}\nexport { sendAfterReload };`, { loader: "ts" });
  const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    sendAfterReload: SendAfterReload;
  };
  return module.sendAfterReload;
}

test.each([
  ["asks again", true, { status: "waiting", interrupts: [QUESTION] }],
  ["does not ask again", false, { status: "done", problem: undefined }],
])("the documented function works with an agent that %s", async (_, again, end) => {
  const sendAfterReload = await documented();
  asksAgain = again;
  const store = await reloaded(() => postSse({ url: `http://${served.address}/agents/support` }));
  expect(await sendAfterReload(store, "hello")).toMatchObject(end);
  store.close();
});
