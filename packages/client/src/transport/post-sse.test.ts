import { startFakeAgent, sseFrame, RESET } from "@countersign/testkit";
import type { FakeAgent, FakeAnswer, FakeRequest } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { createAgentStore } from "../store/create-agent-store.js";
import { runOf, textOf } from "../testing/harness.js";
import { postSse } from "./post-sse.js";
import type { PostSseOptions } from "./post-sse.js";

let agent: FakeAgent | undefined;
afterEach(() => agent?.stop());

const { started, finished } = runOf(1);
const ids = (kind: string) => `${kind}-1`;

async function storeOf(
  script: (request: FakeRequest) => FakeAnswer,
  options: Partial<PostSseOptions> = {},
) {
  agent = await startFakeAgent(script);
  const transport = postSse({ url: agent.url, ...options });
  const reconnect = { attempts: 2, baseMs: 1, maxMs: 2 };
  const store = createAgentStore({ transport, threadId: "thread", mintId: ids, reconnect });
  return { store, agent };
}

function whole(...events: readonly object[]): FakeAnswer {
  return { pieces: events.map(sseFrame) };
}

test("a run goes over POST and comes back as an event stream", async () => {
  const { store, agent: served } = await storeOf(() =>
    whole(started, ...textOf("a", "Hi"), finished),
  );
  const end = await store.send("hello");
  expect(end).toMatchObject({ status: "done" });
  expect(end.messages.at(-1)).toMatchObject({ content: "Hi" });
  const [request] = served.requests;
  expect(request).toMatchObject({ method: "POST" });
  expect(request?.headers).toMatchObject({
    accept: "text/event-stream",
    "content-type": "application/json",
  });
  expect(JSON.parse(request?.body ?? "")).toMatchObject({ runId: "run-1", protocolVersion: "1.0" });
});

test("any line ending, comments, fillers and cuts in the middle of a character are read", async () => {
  const text = [started, ...textOf("a", "grün 🌱"), finished]
    .map(
      (event, index) =>
        `: ping\r\n\r\ndata: ${JSON.stringify(event)}${["\r\n\r\n", "\n\n", "\r\r"][index % 3]}`,
    )
    .join("data: {}\n\ndata: [DONE]\n\n");
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
    bytes.slice(index * 7, index * 7 + 7),
  );
  const { store } = await storeOf(() => ({ pieces }));
  expect((await store.send("hello")).messages.at(-1)).toMatchObject({ content: "grün 🌱" });
});

test.each([
  [401, 1],
  [500, 1],
  [409, 1],
  [503, 3],
  [429, 3],
])("status %i is asked %i times in all", async (status, times) => {
  const { store, agent: served } = await storeOf(() => ({ status, pieces: [] }));
  expect((await store.send("hello")).problem).toMatchObject({ code: "ERR_CLIENT_CONNECT" });
  expect(served.requests).toHaveLength(times);
});

test("a page with status 200 is not a stream", async () => {
  const { store } = await storeOf(() => ({
    headers: { "content-type": "text/html" },
    pieces: ["<h1>Sign in</h1>"],
  }));
  expect((await store.send("hello")).problem?.code).toBe("ERR_CLIENT_NOT_A_STREAM");
});

test("an agent that cannot be reached is a failure with a code", async () => {
  const { store, agent: served } = await storeOf(() => whole());
  await served.stop();
  expect((await store.send("hello")).problem?.code).toBe("ERR_CLIENT_CONNECT");
});

test("a torn stream is truncated, and what came stays", async () => {
  const { store } = await storeOf(() => ({
    pieces: (async function* () {
      yield [started, ...textOf("a", "half")].map(sseFrame).join("");
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield RESET;
    })(),
  }));
  const end = await store.send("hello");
  expect(end.problem?.code).toBe("ERR_CLIENT_TRUNCATED");
  expect(end.messages.at(-1)).toMatchObject({ content: "half" });
});

test("a last event that no blank line closes is not taken for one", async () => {
  const { store } = await storeOf(() => ({
    pieces: [sseFrame(started), `data: ${JSON.stringify(finished)}`],
  }));
  expect((await store.send("hello")).problem?.code).toBe("ERR_CLIENT_TRUNCATED");
});

test.each(["post", "get"] as const)(
  "a broken stream with ids resumes by %s with Last-Event-ID",
  async (way) => {
    const [open, content, close] = textOf("a", "one") as [object, object, object];
    const { store, agent: served } = await storeOf(
      ({ headers }) => ({
        pieces:
          headers["last-event-id"] === undefined
            ? [started, open, content].map((event, id) => `id: ${id}\n${sseFrame(event)}`)
            : [close, finished].map(sseFrame),
      }),
      {
        resume: way === "post" ? "post" : { url: () => `${agent?.url}resume` },
      },
    );
    const end = await store.send("hello");
    expect(end.status).toBe("done");
    expect(end.messages).toHaveLength(2);
    expect(served.requests[1]).toMatchObject({ method: way.toUpperCase() });
    expect(served.requests[1]?.headers["last-event-id"]).toBe("2");
  },
);

test("headers are asked for at each request", async () => {
  let number = 0;
  const { store, agent: served } = await storeOf(() => ({ status: 503, pieces: [] }), {
    headers: () => ({ authorization: `Bearer ${(number += 1)}` }),
  });
  await store.send("hello");
  expect(served.requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer 1",
    "Bearer 2",
    "Bearer 3",
  ]);
});

test("a stop is posted where the server takes it, and the stream is hung up on", async () => {
  const gone: boolean[] = [];
  const { store, agent: served } = await storeOf(({ path, signal }) => {
    if (path === "/stop") return whole();
    signal.addEventListener("abort", () => gone.push(true));
    return {
      pieces: (async function* () {
        yield sseFrame(started);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      })(),
    };
  });
  const stoppable = createAgentStore({
    transport: postSse({ url: served.url, stopUrl: `${served.url}stop` }),
    threadId: "thread",
    mintId: ids,
    stopGraceMs: 20,
  });
  for (const one of [store, stoppable]) {
    const ended = one.send("hello");
    while (one.getSnapshot().status !== "streaming") {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    one.stop();
    expect((await ended).status).toBe("stopped");
  }
  while (gone.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const stop = served.requests.find(({ path }) => path === "/stop");
  expect(JSON.parse(stop?.body ?? "")).toEqual({ threadId: "thread", runId: "run-1" });
});
