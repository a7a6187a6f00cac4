import { startFakeAgent, RESET } from "@countersign/testkit";
import type { FakeAgent, FakePiece, FakeRequest } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createAgentStore } from "../store/create-agent-store.js";
import { runOf, textOf } from "../testing/harness.js";
import { webSocket } from "./websocket.js";
import type { WebSocketLike, WebSocketOptions } from "./websocket.js";

let agent: FakeAgent | undefined;
afterEach(() => agent?.stop());

type Pieces = (
  request: FakeRequest,
  input: { runId: string },
) => AsyncIterable<FakePiece> | FakePiece[];

let sockets = 0;
class CountedSocket extends WebSocket {
  constructor(url: string, protocols?: string[]) {
    super(url, protocols);
    sockets += 1;
  }
}

async function storeOf(pieces: Pieces, options: Partial<WebSocketOptions> = {}) {
  agent = await startFakeAgent((request) => ({
    pieces: pieces(request, JSON.parse(request.body) as { runId: string }),
  }));
  sockets = 0;
  const transport = webSocket({
    url: agent.webSocketUrl,
    WebSocket: CountedSocket as unknown as NonNullable<WebSocketOptions["WebSocket"]>,
    ...options,
  });
  let number = 0;
  const store = createAgentStore({
    transport,
    threadId: "thread",
    reconnect: { attempts: 2, baseMs: 1, maxMs: 2 },
    mintId: (kind) => `${kind}-${kind === "run" ? (number += 1) : Math.random()}`,
  });
  return { store, transport, agent };
}

function answer(input: { runId: string }, style: (event: object) => string): string[] {
  const { started, finished } = runOf(Number(input.runId.slice(4)));
  return [started, ...textOf(`a-${input.runId}`, "Hi"), finished].map(style);
}

test.each([
  ["bare JSON", (event: object) => JSON.stringify(event)],
  ["SSE text", (event: object) => `data: ${JSON.stringify(event)}\n\n`],
])("a run is read from frames of %s", async (_, style) => {
  const { store } = await storeOf((__, input) => answer(input, style));
  const end = await store.send("hello");
  expect(end).toMatchObject({ status: "done" });
  expect(end.messages.at(-1)).toMatchObject({ content: "Hi" });
  store.close();
});

test("runs of one conversation share a socket", async () => {
  const { store } = await storeOf((_, input) => answer(input, JSON.stringify));
  for (let turn = 1; turn <= 3; turn++) expect((await store.send("hello")).status).toBe("done");
  expect(sockets).toBe(1);
  store.close();
});

test("a stop is a frame on the same socket, and the agent's answer ends the run", async () => {
  let hear = (): void => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const { store, agent: served } = await storeOf(async function* ({ body }) {
    if (body.includes("STOP")) return hear();
    const { started, finished } = runOf(1);
    yield JSON.stringify(started);
    await heard;
    yield JSON.stringify({ ...finished, outcome: { type: "cancelled" } });
  });
  const ended = store.send("hello");
  while (store.getSnapshot().status !== "streaming") {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  store.stop();
  expect((await ended).status).toBe("stopped");
  expect(JSON.parse(served.requests[1]?.body ?? "")).toEqual({
    type: "STOP",
    threadId: "thread",
    runId: "run-1",
  });
  store.close();
});

test("a socket with a run that was not read to its end is not used again", async () => {
  const { store } = await storeOf((_, input) =>
    input.runId === "run-1" ? ["not JSON"] : answer(input, JSON.stringify),
  );
  expect((await store.send("hello")).status).toBe("failed");
  expect((await store.send("again")).status).toBe("done");
  expect(sockets).toBe(2);
  store.close();
});

test("a socket that closes inside a run truncates it", async () => {
  const { store } = await storeOf(() => [JSON.stringify(runOf(1).started), RESET]);
  expect((await store.send("hello")).problem?.code).toBe("ERR_CLIENT_TRUNCATED");
});

test("after a cut the next run gets a new socket", async () => {
  const { store } = await storeOf((_, input) =>
    input.runId === "run-1" ? [RESET] : answer(input, JSON.stringify),
  );
  expect((await store.send("hello")).status).toBe("failed");
  expect((await store.send("again")).status).toBe("done");
  expect(sockets).toBe(2);
  store.close();
});

test("a socket that cannot be opened is tried again, since nothing was sent", async () => {
  const { store, agent: served } = await storeOf(() => []);
  await served.stop();
  expect((await store.send("hello")).problem?.code).toBe("ERR_CLIENT_CONNECT");
  expect(sockets).toBe(3);
});

test("a binary frame is refused", async () => {
  const { store } = await storeOf(() => [new Uint8Array([1, 2, 3])]);
  expect((await store.send("hello")).problem?.code).toBe("ERR_CLIENT_CONNECT");
});

test("a token is offered as a sub-protocol and never put into the address", async () => {
  const seen: { url: string; protocols: string[] | undefined }[] = [];
  class RefusedSocket implements WebSocketLike {
    readyState = 0;
    onopen = null;
    onmessage = null;
    onerror = null;
    onclose: ((event: never) => void) | null = null;
    constructor(url: string, protocols?: string[]) {
      seen.push({ url, protocols });
      setTimeout(() => this.onclose?.({ code: 1006 } as never), 1);
    }
    send(): void {}
    close(): void {}
  }
  const transport = webSocket({ url: "wss://agent/ws", token: "secret", WebSocket: RefusedSocket });
  const store = createAgentStore({ transport, reconnect: false });
  const refused = { code: "ERR_CLIENT_CONNECT", status: 1006 };
  expect((await store.send("hello")).problem).toMatchObject(refused);
  expect(seen).toEqual([
    {
      url: "wss://agent/ws",
      protocols: ["base64UrlBearerAuthorization.c2VjcmV0", "base64UrlBearerAuthorization"],
    },
  ]);
});

test("without a WebSocket the error names the option, and the class of the package ws fits it", () => {
  vi.stubGlobal("WebSocket", undefined);
  try {
    const url = "wss://agent.example/ws";
    expect(() => webSocket({ url })).toThrow("pass a class as the option WebSocket");
    expect(webSocket({ url, WebSocket }).name).toBe("websocket");
  } finally {
    vi.unstubAllGlobals();
  }
});

test("unread frames are bounded", async () => {
  const big = JSON.stringify({ type: "CUSTOM", name: "x.y", value: "x".repeat(2000) });
  const { store } = await storeOf(() => [JSON.stringify(runOf(1).started), big, big, big], {
    limits: { maxHeldBytes: 1000 },
  });
  expect((await store.send("hello")).problem?.code).toBe("ERR_LIMIT_EXCEEDED");
});
