import type { EntryDraft } from "@countersign/receipts/log";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { call, idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { AGENT_TRANSPORTS, CLIENT_TRANSPORTS } from "../testing/transports.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const IDS = { threadId: "thread-1", runId: "run-1" };
const EVENTS = inRun(IDS, [
  ...text("m1", "hi there"),
  { type: "CUSTOM", name: "vendor.navigate", value: { url: "https://evil.example" } },
  ...call("c1", "lookup", '{"order":1024}'),
  { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c1", content: "found" },
  { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "form", content: { field: "card" } },
  { type: "STATE_SNAPSHOT", snapshot: { step: 1 } },
  { type: "TEXT_MESSAGE_CHUNK", messageId: "m2", delta: "and " },
  { type: "TEXT_MESSAGE_CHUNK", delta: "more" },
]);

/** A receipt and its entry without the parts that may differ: the transport, ids and times. */
function essence({ receipt, received_at: _received, ...entry }: EntryDraft): object {
  const { transport: _transport, event_id: _id, timestamp: _time, ...rest } = receipt;
  return { ...entry, receipt: rest };
}

test("a stream has the same verdicts and receipts over any client transport and any agent transport", async () => {
  const outcomes: { name: string; receipts: object[]; delivered: object[] }[] = [];
  for (const [agentName, { target, answer }] of Object.entries(AGENT_TRANSPORTS)) {
    for (const [clientName, ask] of Object.entries(CLIENT_TRANSPORTS)) {
      const running = await startFixture(() => answer(EVENTS), { target });
      const urls = { http: running.url, ws: running.webSocketUrl };
      const delivered = await ask(urls, IDS);
      const { drafts } = running.recorder;
      await running.stop();
      expect(drafts[0]).toMatchObject({ direction: "inbound", receipt: { allowed: true } });
      const transport = clientName === "WebSocket" ? "websocket" : "sse";
      expect(new Set(drafts.map(({ receipt }) => receipt.transport))).toEqual(new Set([transport]));
      outcomes.push({
        name: `${clientName} over ${agentName}`,
        receipts: drafts.slice(1).map(essence),
        delivered,
      });
    }
  }
  expect(outcomes).toHaveLength(20);
  const [first] = outcomes;
  expect(first?.receipts.length).toBe(16);
  for (const { name, receipts, delivered } of outcomes) {
    expect({ name, receipts }).toEqual({ name, receipts: first?.receipts });
    expect({ name, delivered }).toEqual({ name, delivered: first?.delivered });
  }
});

test("a socket serves one run after the other, and refuses a second one while the first is open", async () => {
  fixture = await startFixture(
    (request) => ({
      pieces: (async function* () {
        const ids = idsOf(request.body);
        if (ids.runId === "stuck") {
          yield JSON.stringify({ type: "RUN_STARTED", ...ids });
          await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
        } else yield* inRun(ids, text("m", "x")).map((event) => JSON.stringify(event));
      })(),
    }),
    { target: { transport: "websocket" } },
  );
  const socket = new WebSocket(`${fixture.webSocketUrl}/agents/support/ws`, [
    "base64UrlBearerAuthorization.dG9rZW4",
    "base64UrlBearerAuthorization",
  ]);
  const events: { type: string; code?: string }[] = [];
  let wake = (): void => {};
  socket.on("message", (data) => {
    events.push(JSON.parse(String(data)) as { type: string });
    wake();
  });
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (wake = resolve));
  };
  await new Promise((resolve) => socket.once("open", resolve));
  // The token is never echoed.
  expect(socket.protocol).toBe("base64UrlBearerAuthorization");
  const send = (runId: string): void =>
    socket.send(JSON.stringify({ threadId: "t", runId, protocolVersion: "1.0", messages: [] }));
  const finished = (): number => events.filter(({ type }) => type === "RUN_FINISHED").length;
  send("one");
  await until(() => finished() === 1);
  send("two");
  await until(() => finished() === 2);
  send("stuck");
  await until(() => events.at(-1)?.type === "RUN_STARTED");
  send("four");
  const code = await new Promise((resolve) => socket.once("close", resolve));
  expect(code).toBe(1008);
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "ERR_RUN_ACTIVE" });
});

test("AgentCore's paths are served: /invocations with its session header, /ping", async () => {
  fixture = await startFixture(
    (request) =>
      AGENT_TRANSPORTS["POST + SSE"]?.answer(inRun(idsOf(request.body), [])) ?? { pieces: [] },
  );
  const response = await fetch(`${fixture.url}/invocations`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      "x-amzn-bedrock-agentcore-runtime-session-id": "52ed4489",
    },
    body: JSON.stringify({ threadId: "t1", runId: "r1", state: {}, messages: [] }),
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("x-amzn-bedrock-agentcore-runtime-session-id")).toBe("52ed4489");
  expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  await response.text();
  expect(fixture.recorder.drafts[0]?.receipt.session_id).toBe("52ed4489");
  const ping = (await (await fetch(`${fixture.url}/ping`)).json()) as object;
  expect(ping).toEqual({ status: "Healthy", time_of_last_update: expect.any(Number) });
});

test("an EventSource that reconnects is told to stop, so that no run starts twice", async () => {
  fixture = await startFixture(
    () =>
      AGENT_TRANSPORTS["POST + SSE"]?.answer(inRun({ threadId: "s", runId: "stream-s" }, [])) ?? {
        pieces: [],
      },
  );
  const url = `${fixture.url}/ag-ui/stream?session=s`;
  expect(await (await fetch(url)).text()).toContain("RUN_FINISHED");
  expect((await fetch(url)).status).toBe(204);
  expect(fixture.agentRequests).toHaveLength(1);
  expect((await fetch(`${fixture.url}/ag-ui/stream`)).status).toBe(400);
});
