import { createProtoDecoder } from "@countersign/wire/proto";
import { sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { SeenEvent } from "../../testing/client.js";
import { SAMPLES } from "../../testing/envelopes.js";
import { call, idsOf, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { faultsOf, pairUp } from "../../testing/shown.js";
import { openSigningLog } from "../../testing/signing-log.js";
import type { SigningLog } from "../../testing/signing-log.js";
import { socketRun, sseEvents } from "../../testing/transports.js";

const logs: Record<string, SigningLog> = {};
beforeAll(async () => {
  logs["each"] = await openSigningLog("each");
  logs["batch"] = await openSigningLog("batch");
});
afterAll(async () => {
  for (const log of Object.values(logs)) await log.close();
});

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

/** Every kind of event of a run, including parts that are removed before delivery. */
function talkative(body: string): object[] {
  const ids = idsOf(body);
  return inRun(ids, [
    ...text("m1", "Hello"),
    { type: "TEXT_MESSAGE_CHUNK", messageId: "m2", role: "assistant", delta: "chunked" },
    { type: "STATE_SNAPSHOT", snapshot: { price: 1.5, empty: [], nothing: null } },
    ...call("c1", "lookup", '{"q":1}'),
    { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "c1", content: "found" },
    { type: "STEP_STARTED", stepName: "s", rawEvent: { internal: true } },
    { type: "CUSTOM", name: "app.note", value: { list: [] } },
    { type: "STEP_FINISHED", stepName: "s" },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "m1", role: "assistant", content: "Hello" },
        { id: "m2", role: "assistant", content: "chunked", toolCalls: [] },
        {
          id: "c1",
          role: "assistant",
          toolCalls: [
            { id: "c1", type: "function", function: { name: "lookup", arguments: '{"q":1}' } },
          ],
        },
        { id: "t1", role: "tool", toolCallId: "c1", content: "found" },
      ],
    },
  ]);
}

const answering: FakeScript = ({ body, method }) => ({
  pieces: talkative(method === "GET" ? JSON.stringify(SESSION) : body).map(sseFrame),
});

async function start(
  mode = "each",
  script: FakeScript = answering,
  options: FixtureOptions = {},
): Promise<Fixture> {
  const { log } = logs[mode] as SigningLog;
  fixture = await startFixture(script, {
    policy: OPEN_POLICY,
    ...options,
    gateway: { recorder: log, ...options.gateway },
  });
  return fixture;
}

const SESSION = { threadId: "thread-1", runId: "run-1" };
const PROTO = "application/vnd.ag-ui.event+proto";

function post(url: string, headers: Record<string, string>, input: object = {}): Promise<Response> {
  return fetch(`${url}/agents/support?session=thread-1`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
    body: JSON.stringify({ protocolVersion: "1.0", messages: [], ...SESSION, ...input }),
  });
}

const ASKED = { "countersign-receipts": "1" };
const STREAM = "/ag-ui/stream?session=thread-1&run=run-1";

const CLIENTS: Record<string, (urls: Fixture, asked: boolean) => Promise<object[]>> = {
  "POST + SSE": async ({ url }, asked) =>
    sseEvents(await (await post(url, asked ? ASKED : {})).text()),
  "POST + protobuf": async ({ url }, asked) => {
    const answer = await post(url, { accept: PROTO, ...(asked ? ASKED : {}) });
    return createProtoDecoder().push(new Uint8Array(await answer.arrayBuffer()));
  },
  "GET + SSE": async ({ url }, asked) =>
    sseEvents(await (await fetch(`${url}${STREAM}${asked ? "&receipts=1" : ""}`)).text()),
  WebSocket: ({ webSocketUrl }, asked) =>
    socketRun(`${webSocketUrl}/ws?session=thread-1${asked ? "&receipts=1" : ""}`, SESSION),
};

function receiptsIn(events: readonly object[]): SeenEvent[] {
  return (events as readonly SeenEvent[]).filter(
    ({ type, name }) => type === "CUSTOM" && String(name).startsWith("countersign.receipt"),
  );
}

test.each(Object.keys(CLIENTS).flatMap((name) => ["each", "batch"].map((mode) => [name, mode])))(
  "over %s every delivered event has one valid receipt (%s)",
  async (name, mode) => {
    const events = await CLIENTS[name as string]!(await start(mode), true);
    const shown = pairUp(events);
    expect(shown.length).toBe(17);
    expect(shown.at(-1)?.event.type).toBe("RUN_FINISHED");
    expect((events.at(-1) as SeenEvent).type).toBe("RUN_FINISHED");
    expect(await faultsOf(shown, SESSION, logs[mode as string]!.key)).toEqual([]);
  },
);

test.each(Object.keys(CLIENTS))(
  "over %s a client that did not ask for receipts gets none",
  async (name) => {
    const events = await CLIENTS[name]!(await start(), false);
    expect(events.length).toBe(17);
    expect(receiptsIn(events)).toEqual([]);
  },
);

test("an operator can switch receipts off for all clients", async () => {
  const gateway = { receiptsToClients: "never" } as const;
  const events = await CLIENTS["POST + SSE"]!(await start("each", answering, { gateway }), true);
  expect(events.length).toBe(17);
  expect(receiptsIn(events)).toEqual([]);
});

test("a request with an invalid receipt setting is refused before the run", async () => {
  const { url, webSocketUrl, agentRequests } = await start();
  const answers = [
    await post(url, { "countersign-receipts": "yes" }),
    await fetch(`${url}${STREAM}&receipts=true`),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "ERR_RECEIPTS_QUESTION" });
  }
  const socket = new WebSocket(`${webSocketUrl}/ws?receipts=`);
  const refused = await new Promise<Error>((resolve) => socket.once("error", resolve));
  expect(refused.message).toContain("400");
  expect(agentRequests).toEqual([]);
  expect((await post(url, { "countersign-receipts": "0" })).status).toBe(200);
});

test.each(["0.0.55", "0.0.59", "0.1.0", "envelope"])(
  "a client of dialect %s, which could not verify receipts, gets none",
  async (dialect) => {
    const { url } = await start();
    const events = sseEvents(
      await (await post(url, { ...ASKED, "countersign-dialect": dialect })).text(),
    );
    expect(events.length).toBeGreaterThan(5);
    expect(JSON.stringify(events)).not.toContain("countersign.receipt");
  },
);

test.each(["1.0", "envelope"])(
  "a client of %s gets no receipts for envelopes: it receives other events than were signed",
  async (dialect) => {
    const { url } = await start("each", () => ({ pieces: SAMPLES.map(sseFrame) }), {
      target: { dialect: "chio" },
    });
    const answer = await post(url, { ...ASKED, "countersign-dialect": dialect });
    const events = await answer.text();
    expect(events).toContain("check your order");
    expect(events).not.toContain("countersign.receipt");
  },
);

const NO_SECRETS = `${OPEN_POLICY}  ag_ui_conditions:
    rules:
      - { id: secret, effect: block, when: 'has(event.type) && event.type == "TOOL_CALL_START" && event.toolCallName == "secret"' }
`;

test("a blocked or withheld event has no receipt on the stream, and the rest of a list has a valid one", async () => {
  const messages = [
    { id: "m1", role: "assistant", content: "Hello" },
    {
      id: "c9",
      role: "assistant",
      toolCalls: [{ id: "c9", type: "function", function: { name: "secret", arguments: "{}" } }],
    },
  ];
  const script: FakeScript = ({ body }) => ({
    pieces: inRun(idsOf(body), [
      ...text("m1", "Hello"),
      ...call("c9", "secret", "{}"),
      { type: "MESSAGES_SNAPSHOT", messages },
    ]).map(sseFrame),
  });
  const events = await CLIENTS["POST + SSE"]!(
    await start("each", script, { policy: NO_SECRETS }),
    true,
  );
  const shown = pairUp(events);
  expect(shown.map(({ event }) => event.type)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "MESSAGES_SNAPSHOT",
    "RUN_FINISHED",
  ]);
  expect(JSON.stringify(events)).not.toContain("secret");
  expect(await faultsOf(shown, SESSION, logs["each"]!.key)).toEqual([]);
});

test.each(["enforce", "observe"])(
  "an agent's own receipts never reach a client (%s)",
  async (mode) => {
    const forged = ["countersign.receipt", "countersign.receipt_ahead"].map((name) => ({
      type: "CUSTOM",
      name,
      value: { forged: true },
    }));
    const script: FakeScript = ({ body }) => ({
      pieces: inRun(idsOf(body), [...forged, ...text("m1", "Hello")]).map(sseFrame),
    });
    const policy = OPEN_POLICY.replace("name: open", `name: open\nmode: ${mode}`);
    const events = await CLIENTS["POST + SSE"]!(await start("each", script, { policy }), true);
    expect(JSON.stringify(events)).not.toContain("forged");
    expect(await faultsOf(pairUp(events), SESSION, logs["each"]!.key)).toEqual([]);
  },
);

test("the gateway's own events have no receipt, and earlier events keep theirs", async () => {
  const script: FakeScript = ({ body }) => ({
    pieces: [{ type: "RUN_STARTED", ...idsOf(body) }, ...text("m1", "Hello")].map(sseFrame),
  });
  const shown = pairUp(await CLIENTS["POST + SSE"]!(await start("each", script), true));
  expect(shown.at(-1)).toMatchObject({ event: { type: "RUN_ERROR" }, receipts: [] });
  expect(await faultsOf(shown.slice(0, -1), SESSION, logs["each"]!.key)).toEqual([]);
});

test("an agent's own error has its receipt before it", async () => {
  const script: FakeScript = ({ body }) => ({
    pieces: [
      { type: "RUN_STARTED", ...idsOf(body) },
      { type: "RUN_ERROR", message: "it failed" },
    ].map(sseFrame),
  });
  const shown = pairUp(await CLIENTS["POST + SSE"]!(await start("each", script), true));
  expect(shown.at(-1)?.event).toMatchObject({ type: "RUN_ERROR", message: "it failed" });
  expect(await faultsOf(shown, SESSION, logs["each"]!.key)).toEqual([]);
});

test("an error without a run has no receipt: outside a run a receipt is illegal", async () => {
  const script: FakeScript = () => ({ pieces: [sseFrame({ type: "RUN_ERROR", message: "no" })] });
  const events = await CLIENTS["POST + SSE"]!(await start("each", script), true);
  expect(events).toEqual([{ type: "RUN_ERROR", message: "no" }]);
});
