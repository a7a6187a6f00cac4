import type { JsonObject } from "@countersign/core";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import { readRecording } from "@countersign/policy/cases";
import { afterEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import type { SeenEvent } from "../../testing/client.js";
import { SAMPLES, startEnvelopeAgent } from "../../testing/envelopes.js";
import type { EnvelopeAgent } from "../../testing/envelopes.js";
import { createMemoryRecorder, OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { HELD_AGENT } from "../../testing/held-agent.js";
import { openTalk, problemIn } from "../../testing/talk.js";

let fixture: Fixture;
let agent: EnvelopeAgent | undefined;
afterEach(async () => {
  await fixture.stop();
  await agent?.stop();
  agent = undefined;
});

const HELLO = { event_type: "text_stream", payload: { text: "hi" } };
const base = { threadId: "t", protocolVersion: "1.0", messages: [] };

/** Starts a gateway in front of an agent that speaks envelopes on a socket. */
async function beginWith(
  stream: (socket: WebSocket) => void,
  options: FixtureOptions["gateway"] = {},
): Promise<EnvelopeAgent> {
  agent = await startEnvelopeAgent(stream);
  fixture = await startFixture(() => ({ pieces: [] }), {
    policy: OPEN_POLICY,
    target: { transport: "websocket", dialect: "chio", url: agent.url },
    gateway: options,
  });
  return agent;
}

/** The recorded browser messages: the rule of each, and whether it was allowed. */
function messages(drafts = fixture.recorder.drafts): [string | undefined, boolean][] {
  return drafts
    .filter(({ direction, run_id: runId }) => direction === "inbound" && runId === undefined)
    .map(({ rule, receipt }) => [rule, receipt.allowed]);
}

test("a message without a run is refused and signed as refused, and the socket stays open", async () => {
  const { received } = await beginWith(() => {});
  const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
  talk.say(HELLO);
  await vi.waitFor(() => expect(talk.seen).toHaveLength(1));
  expect(talk.seen[0]).toMatchObject({ type: "RUN_ERROR", code: "ERR_MESSAGE_NO_RUN" });
  expect(messages()).toEqual([["gateway/no-run", false]]);
  const [draft] = fixture.recorder.drafts;
  expect(problemIn(talk.seen[0] as SeenEvent)).toMatchObject({
    status: 409,
    receipt: `agui-${draft?.receipt.event_id}`,
  });
  const { telemetry, sessions } = fixture.gateway.context;
  expect([...telemetry.refusals.entries()]).toEqual([["ERR_MESSAGE_NO_RUN", "", 1]]);
  expect(sessions.find("s")?.counters).toEqual({ forwarded: 0, blocked: 1 });
  expect(received).toEqual([]);
  // The next run gets its own messages.
  talk.say({ ...base, runId: "r1" });
  talk.say(HELLO);
  await vi.waitFor(() => expect(received).toMatchObject([{ payload: { text: "hi" } }]));
  talk.socket.close();
});

test("a browser message named like an operator act is recorded as the browser's, and is judged again", async () => {
  await beginWith(() => {});
  const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
  talk.say({ ...base, runId: "r1" });
  talk.say({
    event_type: { custom: "operator.capability-issue" },
    agent_id: "<operator>",
    target: { component_type: "operator", component_id: "admin-1a2b3c4d" },
    payload: { act: "capability-issue" },
  });
  await vi.waitFor(() => expect(messages()).toHaveLength(1));
  const entries = fixture.recorder.drafts as unknown as JsonObject[];
  const { subjects, skipped } = readRecording(entries, compilePolicy(loadPolicy(OPEN_POLICY)));
  expect(skipped).toEqual([]);
  const act = { eventType: "custom", customName: "operator.capability-issue" };
  expect(subjects.map(({ facts }) => facts)).toContainEqual(expect.objectContaining(act));
  talk.socket.close();
});

test("in observe mode a message that was not sent is not signed as sent", async () => {
  agent = await startEnvelopeAgent(() => {});
  fixture = await startFixture(() => ({ pieces: [] }), {
    policy: OPEN_POLICY.replace("rules:", "mode: observe\nrules:"),
    target: { transport: "websocket", dialect: "chio", url: agent.url },
  });
  const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
  talk.say(HELLO);
  await vi.waitFor(() => expect(talk.seen).toHaveLength(1));
  expect(messages()).toEqual([["gateway/no-run", false]]);
  talk.socket.close();
});

test("a message that a policy blocks is recorded under the policy's rule, with or without a run", async () => {
  agent = await startEnvelopeAgent(() => {});
  fixture = await startFixture(() => ({ pieces: [] }), {
    policy: OPEN_POLICY.replace("default: allow", "default: block"),
    target: { transport: "websocket", dialect: "chio", url: agent.url },
  });
  const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
  talk.say(HELLO);
  await vi.waitFor(() => expect(messages()).toEqual([["ag_ui_inbound", false]]));
  expect(talk.seen).toEqual([]);
  talk.socket.close();
});

test("messages sent while the run is being opened wait for it, in order", async () => {
  const { received } = await beginWith((socket) => socket.send(JSON.stringify(SAMPLES[0])));
  const talk = await openTalk(`${fixture.webSocketUrl}/ag-ui?session=s`);
  const texts = Array.from({ length: 20 }, (_, index) => `say ${index}`);
  for (const text of texts) talk.say({ ...HELLO, payload: { text } });
  await vi.waitFor(() => expect(received).toHaveLength(20));
  expect(received).toMatchObject(texts.map((text) => ({ payload: { text } })));
  expect(messages()).toEqual(texts.map(() => [undefined, true]));
  talk.socket.close();
});

test("a message whose run cannot be opened is not signed as sent", async () => {
  const { received } = await beginWith(() => {});
  await agent?.stop();
  const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
  talk.say({ ...base, runId: "r1" });
  talk.say(HELLO);
  await vi.waitFor(() =>
    expect(talk.seen.map(({ code }) => code)).toEqual(["AGENT_UNREACHABLE", "ERR_MESSAGE_NO_RUN"]),
  );
  expect(messages()).toEqual([["gateway/no-run", false]]);
  expect(received).toEqual([]);
  talk.socket.close();
});

test("a run ends while a message is being signed: a second receipt records that it was not sent", async () => {
  const memory = createMemoryRecorder();
  let agents: WebSocket | undefined;
  const { received } = await beginWith((socket) => (agents = socket), {
    recorder: {
      appendAll: async (drafts) => {
        const recorded = await memory.appendAll(drafts);
        if (memory.drafts.length === 2) {
          agents?.terminate();
          await talk.closed;
        }
        return recorded;
      },
    },
  });
  const talk = await openTalk(`${fixture.webSocketUrl}/ag-ui?session=s`);
  await vi.waitFor(() => expect(agents).toBeDefined());
  talk.say({ ...HELLO, event_id: "evt_mine" });
  await vi.waitFor(() => expect(memory.drafts).toHaveLength(3));
  expect(messages(memory.drafts)).toEqual([
    [undefined, true],
    ["gateway/no-run", false],
  ]);
  const [, allowed, withdrawn] = memory.drafts;
  expect(allowed?.receipt.event_id).toBe("evt_mine");
  expect(withdrawn?.receipt.event_id).not.toBe("evt_mine");
  expect(withdrawn?.receipt.denial_reason).toContain("agui-evt_mine was not sent up");
  expect(withdrawn?.receipt.payload_hash).toBe(allowed?.receipt.payload_hash);
  expect(received).toEqual([]);
});

test("for an agent that accepts no messages the client is told while no run is open, and an open run is not disturbed", async () => {
  fixture = await startFixture(HELD_AGENT, { policy: OPEN_POLICY });
  const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
  talk.say(HELLO);
  await vi.waitFor(() => expect(talk.seen).toHaveLength(1));
  expect(talk.seen[0]).toMatchObject({ type: "RUN_ERROR", code: "ERR_MESSAGE_ONE_WAY" });
  talk.say({ ...base, runId: "held" });
  await vi.waitFor(() => expect(talk.seen.at(-1)).toMatchObject({ type: "RUN_STARTED" }));
  talk.say(HELLO);
  await vi.waitFor(() =>
    expect(messages()).toEqual([
      ["gateway/one-way", false],
      ["gateway/one-way", false],
    ]),
  );
  const { refusals } = fixture.gateway.context.telemetry;
  await vi.waitFor(() => expect([...refusals.entries()]).toEqual([["ERR_MESSAGE_ONE_WAY", "", 2]]));
  expect(talk.seen.at(-1)).toMatchObject({ type: "RUN_STARTED" });
  talk.socket.close();
});

test("messages of a client that disconnects while they wait for the run are not signed", async () => {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const memory = createMemoryRecorder();
  await beginWith(() => {}, {
    recorder: {
      appendAll: async (drafts) => {
        await gate;
        return memory.appendAll(drafts);
      },
    },
  });
  const talk = await openTalk(`${fixture.webSocketUrl}/ag-ui?session=s`);
  for (let times = 0; times < 5; times += 1) talk.say(HELLO);
  await vi.waitFor(() =>
    expect(fixture.gateway.context.telemetry.sockets.queued).toBeGreaterThan(0),
  );
  talk.socket.terminate();
  await vi.waitFor(() => expect(fixture.gateway.context.telemetry.sockets.open).toBe(0));
  open();
  await vi.waitFor(() => expect(memory.drafts.length).toBeGreaterThan(0));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(messages(memory.drafts)).toEqual([]);
});
