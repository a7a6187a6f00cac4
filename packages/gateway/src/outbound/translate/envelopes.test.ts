import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { runClient } from "../../testing/client.js";
import { envelope, SAMPLES, startEnvelopeAgent } from "../../testing/envelopes.js";
import type { EnvelopeAgent } from "../../testing/envelopes.js";
import { idsOf, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";
import { sseEvents } from "../../testing/transports.js";

let fixture: Fixture | undefined;
let agent: EnvelopeAgent | undefined;
afterEach(async () => {
  await fixture?.stop();
  await agent?.stop();
  fixture = undefined;
  agent = undefined;
});

/** The guide's WebSocket sample, with a message for a client that reads. */
const POLICY = `hushspec: "0.1.0"
name: ag-ui-ws
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    restricted_classifications: [mutate, navigate, create, destroy, submit, alert]
  ag_ui_inbound:
    enabled: true
    default: block
    allow_classifications: [display, mutate]
`;

test("an agent that repeats its envelopes in the same second gets no receipt twice", async () => {
  const gateway = createInProcess(POLICY, { clock: { now: () => 1_794_700_000_000 } });
  for (const runId of ["r1", "r2"]) {
    const pieces = SAMPLES.map((value) => ({
      kind: "frame" as const,
      text: JSON.stringify(value),
    }));
    await gateway.run({ threadId: "t", runId, messages: [] }, pieces, { agentDialect: "chio" });
  }
  const ids = gateway.recorder.drafts.map(({ receipt }) => receipt.event_id);
  expect(ids.filter((id) => id === "evt_01HZ8A1")).toHaveLength(1);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(2 * SAMPLES.length);
  await gateway.close();
});

test.each(["auto", "1.0", "0.0", "0.1.0"] as const)(
  "envelopes of an agent that is configured as %s end the run, and none is delivered",
  async (dialect) => {
    const openings = [[], [{ type: "RUN_ERROR", message: "x" }], [{ note: 1 }]];
    for (const opening of dialect === "auto" ? openings : [[]]) {
      const gateway = createInProcess(OPEN_POLICY);
      const pieces = frames([...opening, ...SAMPLES]);
      const input = { threadId: "t", runId: "r", messages: [] };
      const { delivered } = await gateway.run(input, pieces, { agentDialect: dialect });
      await gateway.close();
      expect(JSON.stringify(delivered)).not.toContain("order status");
      expect(delivered.at(-1)).toMatchObject({ type: "RUN_ERROR" });
    }
  },
);

test("the error names the missing setting, and the receipt names the code", async () => {
  const gateway = createInProcess(OPEN_POLICY);
  const input = { threadId: "t", runId: "r", messages: [] };
  const { delivered } = await gateway.run(input, frames(SAMPLES));
  await gateway.close();
  expect(delivered).toMatchObject([
    {
      type: "RUN_ERROR",
      code: "AGENT_DIALECT_NOT_CONFIGURED",
      message: expect.stringContaining("dialect: envelope"),
    },
  ]);
  expect(gateway.recorder.drafts.at(-1)?.receipt).toMatchObject({
    allowed: false,
    denial_reason: "invalid event: ERR_ENVELOPE_NOT_CONFIGURED",
  });
});

test("an EventSource gets an agent's envelopes unchanged, one receipt each, and no events of a run", async () => {
  fixture = await startFixture(() => ({ pieces: SAMPLES.map(sseFrame) }), {
    policy: POLICY,
    target: { transport: "get-sse", dialect: "chio" },
  });
  const response = await fetch(`${fixture.url}/ag-ui/stream?session=sess_01`);
  expect(sseEvents(await response.text())).toEqual([SAMPLES[0]]);
  expect(fixture.agentRequests[0]?.path).toBe("/?session=sess_01");
  const outbound = fixture.recorder.drafts.filter(({ direction }) => direction === "outbound");
  expect(outbound.map(({ receipt }) => [receipt.event_id, receipt.allowed])).toEqual([
    ["evt_01HZ8A1", true],
    ["evt_01HZ8A2", false],
    ["evt_01HZ8A3", false],
  ]);
  const { receipt, received_at: receivedAt = 0 } = outbound[2] ?? {};
  expect(receipt?.timestamp).toBe(Math.floor(receivedAt / 1000));
  expect(receipt?.timestamp).not.toBe(SAMPLES[2]?.["timestamp"]);
  expect(receipt).toMatchObject({
    agent_id: "support",
    session_id: "sess_01",
    event_type: "form_action",
    classification: "submit",
    target: { component_type: "modal", component_id: "confirm-refund" },
    denial_reason: "capability required for Submit events",
    payload_hash: sha256Hex(canonicalJson(SAMPLES[2]?.["payload"] as JsonValue)),
  });
});

test("an envelope with a harmless label is judged by its content", async () => {
  const liar = envelope("evt_liar", { event_type: "navigation", classification: "display" });
  fixture = await startFixture(() => ({ pieces: [sseFrame(liar)] }), {
    policy: POLICY,
    target: { transport: "get-sse", dialect: "chio" },
  });
  const response = await fetch(`${fixture.url}/ag-ui/stream?session=s`);
  expect(await response.text()).toBe("");
  expect(fixture.recorder.drafts.at(-1)?.receipt.denial_reason).toContain("mismatch");
});

test("a native client receives an envelope agent's text as messages, one receipt each, and an end of the run", async () => {
  fixture = await startFixture(() => ({ pieces: SAMPLES.map(sseFrame) }), {
    policy: POLICY,
    target: { dialect: "chio" },
  });
  const run = await runClient(`${fixture.url}/agents/support`);
  expect(run.error).toBeUndefined();
  expect(run.types).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_ERROR",
  ]);
  expect(run.events.at(-1)).toMatchObject({ code: "AGENT_STREAM_WITHOUT_END" });
  expect(run.messages.at(-1)?.content).toBe("I'll check your order status now.");
  // The gateway supplies the run of envelopes; it contains no value from the agent.
  expect(run.events[0]).not.toHaveProperty("metadata");
  expect(fixture.recorder.drafts).toHaveLength(4);
});

test("a client that asks for envelopes gets a native agent's events in them", async () => {
  fixture = await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), text("m", "hi")).map(sseFrame) }),
    { policy: POLICY },
  );
  const response = await fetch(`${fixture.url}/ag-ui/stream?session=s&dialect=envelope`);
  const events = sseEvents(await response.text());
  expect(events.map(({ event_type: type }) => type)).toEqual([
    "lifecycle",
    "text_stream",
    "lifecycle",
  ]);
  expect(events[1]).toMatchObject({ payload: { text: "hi" }, classification: "display" });
});

type Talk = { socket: WebSocket; seen: Record<string, unknown>[]; closed: Promise<number> };

async function open(url: string): Promise<Talk> {
  const socket = new WebSocket(url);
  const seen: Record<string, unknown>[] = [];
  socket.on("message", (data) => void seen.push(JSON.parse(String(data)) as (typeof seen)[number]));
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await new Promise((resolve) => socket.once("open", resolve));
  return { socket, seen, closed };
}

test("a socket carries envelopes both ways: to the client unchanged, to the agent judged, recorded and with the sender's identity", async () => {
  agent = await startEnvelopeAgent((socket) => socket.send(JSON.stringify(SAMPLES[0])));
  fixture = await startFixture(() => ({ pieces: [] }), {
    policy: POLICY,
    target: { transport: "websocket", dialect: "chio", url: agent.url },
  });
  const { socket, seen } = await open(`${fixture.webSocketUrl}/ag-ui?session=sess_01`);
  await vi.waitFor(() => expect(seen).toEqual([SAMPLES[0]]));
  expect(agent.paths).toEqual(["/ui?session=sess_01"]);

  socket.send(
    JSON.stringify({
      event_type: "state_update",
      classification: "mutate",
      payload: { open: true },
      agent_id: "somebody-else",
      session_id: "another",
    }),
  );
  await vi.waitFor(() => expect(agent?.received).toHaveLength(1));
  expect(agent.received[0]).toMatchObject({
    event_type: "state_update",
    payload: { open: true },
    agent_id: "support",
    session_id: "sess_01",
    event_id: expect.stringMatching(/^evt_/u),
  });

  socket.send(JSON.stringify({ event_type: "navigation", payload: { url: "https://evil" } }));
  socket.send(JSON.stringify({ event_type: "text_stream", payload: { text: "hi" } }));
  await vi.waitFor(() => expect(agent?.received).toHaveLength(2));
  const inbound = fixture.recorder.drafts.filter(({ direction }) => direction === "inbound");
  expect(
    inbound.map(({ receipt }) => [receipt.event_type, receipt.classification, receipt.allowed]),
  ).toEqual([
    ["lifecycle", "display", true],
    ["state_update", "mutate", true],
    ["navigation", "navigate", false],
    ["text_stream", "display", true],
  ]);
  socket.close();
});

test("a message that is not an envelope is refused, and so is one to an agent that accepts none", async () => {
  fixture = await startFixture(
    (request) => ({
      pieces: (async function* () {
        yield sseFrame(SAMPLES[0]);
        await new Promise((resolve) => {
          request.signal.addEventListener("abort", resolve, { once: true });
        });
      })(),
    }),
    { policy: POLICY, target: { transport: "get-sse", dialect: "chio" } },
  );
  const { recorder } = fixture;
  const { socket, seen, closed } = await open(`${fixture.webSocketUrl}/ag-ui?session=s`);
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  socket.send(JSON.stringify({ event_type: "text_stream", payload: { text: "hi" } }));
  await vi.waitFor(() =>
    expect(recorder.drafts.at(-1)).toMatchObject({
      rule: "gateway/one-way",
      receipt: { allowed: false },
    }),
  );
  socket.send(JSON.stringify({ event_type: "telepathy", payload: 1 }));
  expect(await closed).toBe(1003);
  expect(seen.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "ERR_DIALECT_ENVELOPE" });
});

test("a socket that was opened only for the stream closes with it", async () => {
  agent = await startEnvelopeAgent((socket) => {
    socket.send(JSON.stringify(SAMPLES[0]));
    socket.close(1000);
  });
  fixture = await startFixture(() => ({ pieces: [] }), {
    policy: POLICY,
    target: { transport: "websocket", dialect: "chio", url: agent.url },
  });
  const { seen, closed } = await open(`${fixture.webSocketUrl}/ag-ui?session=s`);
  expect(await closed).toBe(1000);
  expect(seen).toEqual([SAMPLES[0]]);
});
