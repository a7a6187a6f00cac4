import { expect, test, vi } from "vitest";
import { createAgentStore } from "../store/create-agent-store.js";
import { settle } from "../testing/fake-time.js";
import { runOf, textOf } from "../testing/harness.js";
import { eventSource } from "./event-source.js";
import type { EventSourceLike } from "./event-source.js";

const { started, finished } = runOf(1);

/** Stands in for the browser's class, with the test as its server. */
class FakeSource implements EventSourceLike {
  static last: FakeSource;
  readyState = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  constructor(
    readonly url: string,
    readonly init?: { withCredentials?: boolean },
  ) {
    FakeSource.last = this;
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.({} as never);
  }
  send(...events: readonly object[]): void {
    for (const event of events) {
      this.onmessage?.({ data: JSON.stringify(event), lastEventId: "7" } as never);
    }
  }
  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.({} as never);
  }
  close(): void {
    this.readyState = 2;
  }
}

function start(url: Parameters<typeof eventSource>[0]["url"] = "/ag-ui/stream?agent=crm") {
  const transport = eventSource({ url, EventSource: FakeSource, maxReconnects: 2 });
  const store = createAgentStore({ transport, threadId: "thread", mintId: (kind) => `${kind}-1` });
  const ended = store.send("hello");
  return { store, ended };
}

test("the address names the session and the run, and the stream is read to its end", async () => {
  const { store, ended } = start();
  await settle();
  const source = FakeSource.last;
  expect(source.url).toBe("/ag-ui/stream?agent=crm&session=thread&run=run-1");
  expect(store.getSnapshot().status).toBe("connecting");
  source.open();
  await settle();
  expect(store.getSnapshot().status).toBe("streaming");
  source.send(started, ...textOf("a", "Hi"), finished);
  const end = await ended;
  expect(end.status).toBe("done");
  expect(end.messages.at(-1)).toMatchObject({ content: "Hi" });
});

test("a page can put the question into the address", async () => {
  start((input) => `/chat?message=${String(input.messages.at(-1)?.content)}`);
  await settle();
  expect(FakeSource.last.url).toBe("/chat?message=hello");
});

test("the source is closed after the run, or it would ask for it again", async () => {
  const { store, ended } = start();
  await settle();
  FakeSource.last.open();
  FakeSource.last.send(started, finished);
  await ended;
  store.close();
  await settle();
  expect(FakeSource.last.readyState).toBe(2);
});

test("while the browser comes back by itself the store says so", async () => {
  const { store, ended } = start();
  await settle();
  const source = FakeSource.last;
  source.open();
  source.send(started);
  await settle();
  source.fail(0);
  await settle();
  expect(store.getSnapshot().status).toBe("reconnecting");
  source.open();
  source.send(finished);
  expect((await ended).status).toBe("done");
});

test("a browser that keeps failing is given up after the bound", async () => {
  const { ended } = start();
  await settle();
  const source = FakeSource.last;
  source.open();
  source.send(started);
  for (let turn = 0; turn < 3; turn++) source.fail(0);
  expect((await ended).problem?.code).toBe("ERR_CLIENT_TRUNCATED");
  expect(source.readyState).toBe(2);
});

test("a stream that never opened could not be reached", async () => {
  const { ended } = start();
  await settle();
  FakeSource.last.fail(2);
  expect((await ended).problem?.code).toBe("ERR_CLIENT_CONNECT");
});

test("without an EventSource the error names the option", () => {
  vi.stubGlobal("EventSource", undefined);
  try {
    const asked = () => eventSource({ url: "/stream" });
    expect(asked).toThrow("pass a class as the option EventSource");
  } finally {
    vi.unstubAllGlobals();
  }
});

test("a stop closes the source", async () => {
  const { store, ended } = start();
  await settle();
  FakeSource.last.open();
  FakeSource.last.send(started);
  await settle();
  store.stop();
  expect((await ended).status).toBe("stopped");
  await settle();
  expect(FakeSource.last.readyState).toBe(2);
});
