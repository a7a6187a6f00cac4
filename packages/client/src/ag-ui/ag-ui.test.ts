import { startFakeAgent, RESET } from "@countersign/testkit";
import type { FakeAgent, FakePiece, FakeRequest } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { runOf, textOf } from "../testing/harness.js";
import { postSse } from "../transport/post-sse.js";
import { webSocket } from "../transport/websocket.js";
import type { WebSocketOptions } from "../transport/websocket.js";
import { TransportAgent } from "./index.js";

let served: FakeAgent | undefined;
afterEach(() => served?.stop());

const { started, finished } = runOf(1);

async function agentOf(
  pieces: (request: FakeRequest) => Iterable<FakePiece> | AsyncIterable<FakePiece>,
) {
  served = await startFakeAgent((request) => ({ pieces: pieces(request) }));
  const transport = webSocket({
    url: served.webSocketUrl,
    WebSocket: WebSocket as unknown as NonNullable<WebSocketOptions["WebSocket"]>,
  });
  return new TransportAgent({ transport, threadId: "thread", agentId: "crm" });
}

async function quietly<Value>(work: () => Promise<Value>): Promise<Value> {
  const spies = [vi.spyOn(console, "error"), vi.spyOn(console, "warn")];
  for (const spy of spies) spy.mockImplementation(() => {});
  try {
    return await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

test("a run over a socket gives the official client its new messages", async () => {
  const agent = await agentOf(() =>
    [started, ...textOf("a", "Hi"), finished].map((event) => JSON.stringify(event)),
  );
  const { newMessages } = await agent.runAgent({ runId: "run-1" });
  expect(newMessages).toMatchObject([{ id: "a", role: "assistant", content: "Hi" }]);
});

test("a stream that breaks off is an error for the official client too", async () => {
  const agent = await agentOf(() => [JSON.stringify(started), RESET]);
  const failed = quietly(() => agent.runAgent({ runId: "run-1" }));
  await expect(failed).rejects.toMatchObject({ code: "ERR_CLIENT_TRUNCATED" });
});

test("a refusal over POST brings the server's own account to the official client", async () => {
  const body = JSON.stringify({
    code: "ERR_ACCESS_SCOPE",
    title: "The token does not have a required scope",
  });
  const headers = { "content-type": "application/problem+json" };
  const fetch = () => Promise.resolve(new Response(body, { status: 403, headers }));
  const agent = new TransportAgent({ transport: postSse({ url: "/agent", fetch }) });
  await expect(quietly(() => agent.runAgent())).rejects.toMatchObject({
    code: "ERR_CLIENT_CONNECT",
    facts: {
      status: 403,
      refusal: { code: "ERR_ACCESS_SCOPE", message: "The token does not have a required scope" },
    },
  });
});

test("an aborted run hangs up", async () => {
  let gone: AbortSignal | undefined;
  const agent = await agentOf(async function* ({ signal }) {
    gone = signal;
    yield JSON.stringify(started);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  const run = agent.runAgent(
    { runId: "run-1" },
    { onRunStartedEvent: () => void setTimeout(() => agent.abortRun(), 5) },
  );
  await run;
  await vi.waitFor(() => expect(gone?.aborted).toBe(true));
});

test("a clone runs by itself beside the first", async () => {
  const agent = await agentOf(({ body }) => {
    const { runId, threadId } = JSON.parse(body) as { runId: string; threadId: string };
    const ids = { runId, threadId };
    return [
      { type: "RUN_STARTED", ...ids },
      ...textOf(`answer-${runId}`, runId),
      { type: "RUN_FINISHED", ...ids },
    ].map((event) => JSON.stringify(event));
  });
  const copy = agent.clone();
  copy.threadId = "other";
  await Promise.all([agent.runAgent({ runId: "one" }), copy.runAgent({ runId: "two" })]);
  expect(agent.messages).toMatchObject([{ content: "one" }]);
  expect(copy.messages).toMatchObject([{ content: "two" }]);
});

test("an agent without a transport is a mistake of its author", () => {
  expect(() => new TransportAgent({} as never)).toThrow(TypeError);
});
