import { afterEach, expect, test, vi } from "vitest";
import type { SeenEvent } from "../../testing/client.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { bearer, KEYS, keyAccess } from "../../testing/key-holders.js";
import { HELD_AGENT } from "../../testing/held-agent.js";
import { openTalk, problemIn } from "../../testing/talk.js";
import type { Talk } from "../../testing/talk.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

const ALICE = bearer("alice");

/** Starts a gateway with one key each for Alice and Bob. */
async function begin(): Promise<Line[]> {
  const [lines, journal] = listen();
  const access = keyAccess();
  fixture = await startFixture(HELD_AGENT, { gateway: { access, ...journal } });
  return lines;
}

type Line = { readonly code?: string };

/** Collects the refusals that are logged. */
function listen(): [Line[], NonNullable<FixtureOptions["gateway"]>] {
  const lines: Line[] = [];
  const note = (facts: object, message: string): void => {
    if (message === "refused") lines.push(facts);
  };
  return [lines, { journal: { debug: note, info: note, warn: note, error: note } }];
}

/** The refusal counter by code. */
function counted(): Record<string, number> {
  const { refusals } = fixture.gateway.context.telemetry;
  return Object.fromEntries([...refusals.entries()].map(([code, , count]) => [code, count]));
}

const base = { threadId: "t", protocolVersion: "1.0", messages: [] };

type FrameCase = {
  title: string;
  code: string;
  close: number;
  send(talk: Talk): void;
};

const FRAMES: FrameCase[] = [
  {
    title: "a binary frame",
    code: "ERR_SOCKET_FRAME",
    close: 1003,
    send: ({ socket }) => socket.send(Buffer.from("{}")),
  },
  {
    title: "two messages in a frame",
    code: "ERR_SOCKET_FRAME",
    close: 1003,
    send: ({ say }) => say("data: {}\n\ndata: {}\n\n"),
  },
  {
    title: "a frame that is too long",
    code: "ERR_SOCKET_FRAME",
    close: 1009,
    send: ({ say }) => say(`"${"x".repeat(5000)}"`),
  },
  {
    title: "text that is no UTF-8",
    code: "ERR_SOCKET_FRAME",
    close: 1007,
    send: ({ socket }) => socket.send(new Uint8Array([0xff]), { binary: false }),
  },
  {
    title: "frames that come too fast",
    code: "ERR_SOCKET_RATE",
    close: 1008,
    send: ({ say }) => {
      for (let times = 0; times < 9; times += 1) say({ type: "STOP" });
    },
  },
  { title: "no JSON", code: "ERR_JSON_SYNTAX", close: 1003, send: ({ say }) => say("{") },
  {
    title: "an envelope that is none",
    code: "ERR_DIALECT_ENVELOPE",
    close: 1003,
    send: ({ say }) => say({ event_type: "telepathy", payload: 1 }),
  },
  {
    title: "a second run on one socket",
    code: "ERR_RUN_ACTIVE",
    close: 1008,
    send: ({ say }) => {
      say({ ...base, runId: "held" });
      say({ ...base, threadId: "u", runId: "r2" });
    },
  },
];

test.each(FRAMES)(
  "$title: refused, signed, logged and counted once each",
  async ({ code, close, send }) => {
    const [lines, journal] = listen();
    const listenLimits = { frameBytes: 4096, messagesPerSecond: 4 };
    fixture = await startFixture(HELD_AGENT, {
      policy: OPEN_POLICY,
      gateway: { listenLimits, ...journal },
    });
    const talk = await openTalk(`${fixture.webSocketUrl}/ws?session=s`);
    send(talk);
    expect((await talk.closed).code).toBe(close);
    await vi.waitFor(() => expect(counted()[code]).toBe(1));
    const refused = fixture.recorder.drafts.filter(({ receipt }) => !receipt.allowed);
    expect(refused).toMatchObject([
      { direction: "inbound", receipt: { transport: "websocket", session_id: "s" } },
    ]);
    expect(refused[0]?.receipt.denial_reason).toContain(code);
    const receipt = `agui-${refused[0]?.receipt.event_id}`;
    expect(lines.filter((line) => line.code === code)).toMatchObject([
      { code, agent: "support", receipt, client_address: "127.0.0.1", session: "s" },
    ]);
    // A violation of the WebSocket protocol is reported by the close code alone.
    if (close === 1009 || close === 1007) return;
    expect(talk.seen.at(-1)).toMatchObject({ type: "RUN_ERROR", code });
    expect(problemIn(talk.seen.at(-1) as SeenEvent)).toMatchObject({ code, receipt });
  },
);

test("a second run on a socket is refused in every mode, and never reaches the agent", async () => {
  fixture = await startFixture(HELD_AGENT, {
    policy: OPEN_POLICY.replace("rules:", "mode: observe\nrules:"),
  });
  const talk = await openTalk(`${fixture.webSocketUrl}/ws`);
  talk.say({ ...base, runId: "held" });
  talk.say({ ...base, threadId: "u", runId: "r2" });
  expect((await talk.closed).code).toBe(1008);
  expect(fixture.recorder.drafts.filter(({ receipt }) => !receipt.allowed)).toMatchObject([
    { rule: "ag_ui_request.runs", run_id: "r2", thread_id: "u" },
  ]);
  expect(fixture.agentRequests).toHaveLength(1);
});

test("another principal's token on an open socket is logged and counted", async () => {
  const lines = await begin();
  const talk = await openTalk(`${fixture.webSocketUrl}/ws`, ALICE);
  talk.say({ type: "AUTH", token: KEYS.bob });
  expect(await talk.closed).toEqual({ code: 1008, reason: "ERR_ACCESS_SESSION" });
  expect(problemIn(talk.seen[0] as SeenEvent)).toMatchObject({ status: 403 });
  expect(counted()).toEqual({ ERR_ACCESS_SESSION: 1 });
  expect(lines).toMatchObject([
    { code: "ERR_ACCESS_SESSION", agent: "support", principal: "key:alice", path: "/ws" },
  ]);
});

test("a socket for an unknown agent or from a foreign page is logged and counted", async () => {
  const lines = await begin();
  const url = `${fixture.webSocketUrl}/agents/nobody/ws`;
  await expect(openTalk(url, ALICE)).rejects.toThrow("404");
  const greeted = await openTalk(url);
  greeted.say({ type: "AUTH", token: KEYS.alice });
  expect(await greeted.closed).toEqual({ code: 1008, reason: "AGENT_UNKNOWN" });
  expect(problemIn(greeted.seen[0] as SeenEvent)).toMatchObject({ status: 404 });
  const foreign = { ...ALICE, origin: "https://evil.example" };
  await expect(openTalk(`${fixture.webSocketUrl}/ws`, foreign)).rejects.toThrow("403");
  expect(counted()).toEqual({ AGENT_UNKNOWN: 2, ORIGIN_NOT_ALLOWED: 1 });
  const client_address = "127.0.0.1";
  expect(lines).toEqual([
    { code: "AGENT_UNKNOWN", client_address, path: "/agents/nobody/ws" },
    { code: "AGENT_UNKNOWN", client_address, path: "/agents/nobody/ws" },
    { code: "ORIGIN_NOT_ALLOWED", client_address, path: "/ws", origin: "https://evil.example" },
  ]);
});
