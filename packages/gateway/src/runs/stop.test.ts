import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { idsOf } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { post, sseEvents } from "../testing/transports.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

/** Starts a run and then sends nothing more until the connection closes. */
const ENDLESS: FakeScript = (request) => ({
  pieces: (async function* (): AsyncGenerator<FakePiece> {
    const event = { type: "RUN_STARTED", ...idsOf(request.body) };
    yield request.method === "WS" ? JSON.stringify(event) : sseFrame(event);
    await new Promise((resolve) => {
      request.signal.addEventListener("abort", resolve, { once: true });
    });
  })(),
});

const INPUT = { threadId: "t", runId: "r" };

async function agentSawAbort(): Promise<number> {
  const since = performance.now();
  await vi.waitFor(() => expect(fixture?.agentRequests[0]?.signal.aborted).toBe(true), {
    interval: 2,
  });
  return performance.now() - since;
}
const statusOf = (session: string): string | undefined =>
  [...(fixture?.gateway.context.sessions.find(session)?.runs.values() ?? [])][0]?.status;

async function firstChunk(response: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return reader;
}

test.each(["post-sse", "websocket"] as const)(
  "a client that disconnects cancels the run of a %s agent",
  async (transport) => {
    fixture = await startFixture(ENDLESS, { target: { transport } });
    const leave = new AbortController();
    const url = `${fixture.url}/agents/support?session=s`;
    await firstChunk(await post(url, INPUT, "text/event-stream", leave.signal));
    leave.abort();
    await agentSawAbort();
    await vi.waitFor(() => expect(statusOf("s")).toBe("stopped"));
  },
);

test("a client that disconnects before the agent has responded cancels the request", async () => {
  fixture = await startFixture(async (request) => {
    await new Promise((resolve) => {
      request.signal.addEventListener("abort", resolve, { once: true });
    });
    return { pieces: [] };
  });
  const leave = new AbortController();
  const asked = post(`${fixture.url}/ag-ui/run`, INPUT, "text/event-stream", leave.signal);
  asked.catch(() => {});
  await vi.waitFor(() => expect(fixture?.agentRequests).toHaveLength(1));
  leave.abort();
  await agentSawAbort();
});

test("POST /ag-ui/stop cancels the run, and the client is told that it was stopped", async () => {
  fixture = await startFixture(ENDLESS);
  const response = await post(`${fixture.url}/agents/support?session=s`, INPUT);
  const body = response.text();
  await vi.waitFor(() => expect(fixture?.agentRequests).toHaveLength(1));
  await vi.waitFor(() => expect(statusOf("s")).toBe("running"));
  const stopped = await fetch(`${fixture.url}/ag-ui/stop?session=s`, { method: "POST" });
  expect(await stopped.json()).toEqual({ stopped: ["r"] });
  await agentSawAbort();
  expect(sseEvents(await body).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RUN_STOPPED" });
  expect(statusOf("s")).toBe("stopped");
});

test("a stop affects only the run it names: another session's run continues", async () => {
  fixture = await startFixture(ENDLESS);
  const leave = new AbortController();
  const url = `${fixture.url}/agents/support?session=mine`;
  await firstChunk(await post(url, INPUT, "text/event-stream", leave.signal));
  const stop = (query: string, body: object | null): Promise<unknown> =>
    fetch(`${fixture?.url}/ag-ui/stop${query}`, {
      method: "POST",
      body: JSON.stringify(body),
    }).then((response) => response.json());
  expect(await stop("?session=other", {})).toEqual({ stopped: [] });
  expect(await stop("", { threadId: "t" })).toEqual({ stopped: [] });
  expect(await stop("?session=mine", { runId: "x" })).toEqual({ stopped: [] });
  expect(await stop("?session=mine", null)).toMatchObject({ code: "STOP_UNREADABLE" });
  expect(statusOf("mine")).toBe("running");
  expect(await stop("", { threadId: "t", runId: "r" })).toEqual({ stopped: ["r"] });
  leave.abort();
});

test("STOP on a socket cancels the run, says so, and leaves the socket open for the next run", async () => {
  fixture = await startFixture(ENDLESS);
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws?session=s`);
  const events: { type: string; code?: string }[] = [];
  socket.on("message", (data) => void events.push(JSON.parse(String(data)) as { type: string }));
  await new Promise((resolve) => socket.once("open", resolve));
  const send = (value: object): void => socket.send(JSON.stringify(value));
  send({ ...INPUT, protocolVersion: "1.0", messages: [] });
  await vi.waitFor(() => expect(events).toHaveLength(1));
  send({ type: "STOP" });
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ code: "RUN_STOPPED" }));
  await agentSawAbort();
  send({ threadId: "t", runId: "r2", protocolVersion: "1.0", messages: [] });
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: "RUN_STARTED", runId: "r2" }));
  socket.close();
  await vi.waitFor(() => expect(fixture?.agentRequests[1]?.signal.aborted).toBe(true));
});

test("a gateway that closes ends every run with an error event", async () => {
  fixture = await startFixture(ENDLESS);
  const body = (await post(`${fixture.url}/ag-ui/run`, INPUT)).text();
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws`);
  await new Promise((resolve) => socket.once("open", resolve));
  const gone = new Promise((resolve) => socket.once("close", resolve));
  await vi.waitFor(() => expect(fixture?.agentRequests).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await fixture.gateway.close();
  expect(sseEvents(await body).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RUN_STOPPED" });
  expect(await gone).toBe(1001);
});
