import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import type { HashedDraft } from "@countersign/receipts/log";
import { afterEach, expect, test, vi } from "vitest";
import { CLIENTS, runClient } from "../../testing/client.js";
import type { SeenEvent } from "../../testing/client.js";
import { idsOf, inRun } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { bearer, keyAccess } from "../../testing/key-holders.js";
import type { KeyHolder } from "../../testing/key-holders.js";
import { HELD_AGENT } from "../../testing/held-agent.js";
import { openTalk, problemIn } from "../../testing/talk.js";
import type { ToldProblem } from "../../testing/talk.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_request:
    tools: { server_tools: [refund] }
    state: { keys: [step] }
    context: { max_entries: 0 }
  ag_ui_conditions:
    rules:
      - id: no-gossip
        when: has(event.runId) && !has(event.type) && event.runId.startsWith("gossip")
        reason: not this one
`;

/** An agent that interrupts and waits for a resume if the run id says so; otherwise it finishes without output. */
const AGENT: FakeScript = (request) => {
  const ids = idsOf(request.body);
  if (!ids.runId.startsWith("asking")) return HELD_AGENT(request);
  const interrupts = [{ id: "i1", reason: "input" }];
  const finished = { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts } };
  return { pieces: [...inRun(ids, []).slice(0, -1), finished].map(sseFrame) };
};

async function begin(target: object = {}): Promise<void> {
  const access = keyAccess();
  fixture = await startFixture(AGENT, { policy: POLICY, target, gateway: { access } });
}

const base = { threadId: "t", protocolVersion: "1.0", messages: [] };
const tool = (name: string) => ({ name, description: "x", parameters: { type: "object" } });
const said = (role: string) => ({ messages: [{ id: "x", role, content: "y" }] });

type Case = {
  readonly code: string;
  /** The request: fields of an input, or raw text. */
  readonly ask: object | string;
  /** A request of Alice on the same thread before it. */
  readonly before?: { readonly runId: string };
  readonly as?: KeyHolder;
};

const CASES: Case[] = [
  { code: "ERR_JSON_SYNTAX", ask: '{"threadId":' },
  { code: "ERR_JSON_DUPLICATE_KEY", ask: '{"threadId":"t","threadId":"u"}' },
  { code: "ERR_DIALECT_REQUEST", ask: "[1]" },
  { code: "ERR_DIALECT_DOUBLE_SPELLING", ask: '{"threadId":"t","thread_id":"o","messages":[]}' },
  { code: "ERR_ENFORCE_MALFORMED_VALUE", ask: { messages: 1, runId: "r" } },
  { code: "ERR_INBOUND_UNKNOWN_KEY", ask: { protocolVersion: "1.0", run_id: "s", runId: "r" } },
  { code: "ERR_ID_TOO_LONG", ask: { runId: "r".repeat(1025) } },
  { code: "ERR_HISTORY_INVENTED", ask: { ...said("assistant"), runId: "r" } },
  {
    code: "ERR_TOOL_RESULT_UNKNOWN",
    ask: { messages: [{ id: "x", role: "tool", toolCallId: "c", content: "y" }], runId: "r" },
  },
  {
    code: "ERR_RESUME_UNKNOWN",
    ask: { resume: [{ interruptId: "i9", status: "cancelled" }], runId: "r" },
  },
  {
    code: "ERR_RESUME_INCOMPLETE",
    ask: { ...said("user"), runId: "r" },
    before: { runId: "asking" },
  },
  { code: "ERR_TOOLS_NAME", ask: { tools: [tool("ünsafe")], runId: "r" } },
  { code: "ERR_TOOLS_SHADOWED", ask: { tools: [tool("refund")], runId: "r" } },
  { code: "ERR_STATE_REFUSED", ask: { state: { other: 1 }, runId: "r" } },
  { code: "ERR_CONTEXT_REFUSED", ask: { context: [{ description: "d", value: "v" }], runId: "r" } },
  { code: "ERR_FORWARDED_PROPS_REFUSED", ask: { forwardedProps: { k: 1 }, runId: "r" } },
  { code: "ERR_INBOUND_BLOCKED", ask: { runId: "gossip" } },
  { code: "ERR_RUN_ID_REUSED", ask: { runId: "again" }, before: { runId: "again" } },
  { code: "ERR_RUN_ACTIVE", ask: { runId: "r" }, before: { runId: "held" } },
  { code: "ERR_THREAD_OWNER", ask: { runId: "r" }, before: { runId: "first" }, as: "bob" },
];

/** The receipt of the refusal without what depends on transport and time. */
function recorded(receipt: string | undefined): object {
  const refused = fixture.recorder.drafts.filter((draft) => !draft.receipt.allowed);
  expect(refused.map((draft) => `agui-${draft.receipt.event_id}`)).toEqual([receipt]);
  const { received_at: _at, receipt: told, ...entry } = refused[0] as HashedDraft;
  const {
    event_id: _id,
    timestamp: _time,
    transport: _transport,
    session_id: _session,
    ...rest
  } = told;
  return { ...entry, receipt: rest };
}

const textOf = (ask: object | string): string =>
  typeof ask === "string" ? ask : JSON.stringify({ ...base, ...ask });

function post(text: string, name: KeyHolder = "alice"): Promise<Response> {
  const url = `${fixture.url}/agents/support`;
  return fetch(url, { method: "POST", headers: bearer(name), body: text });
}

/** Waits for the end of the run, unless it has none. */
async function askBefore(runId: string): Promise<void> {
  const response = await post(textOf({ runId }));
  if (runId !== "held") await response.text();
}

async function overHttp({ ask, before, as = "alice" }: Case): Promise<[ToldProblem, object]> {
  await begin();
  if (before !== undefined) await askBefore(before.runId);
  const response = await post(textOf(ask), as);
  const told = (await response.json()) as ToldProblem;
  expect(told.status).toBe(response.status);
  return [told, recorded(told.receipt)];
}

async function overSocket({
  ask,
  before,
  as = "alice",
}: Case): Promise<[SeenEvent, object, number]> {
  await begin();
  if (before !== undefined) await askBefore(before.runId);
  const talk = await openTalk(`${fixture.webSocketUrl}/ws`, bearer(as));
  talk.say(textOf(ask));
  const { code } = await talk.closed;
  expect(talk.seen).toHaveLength(1);
  const [event] = talk.seen as [SeenEvent];
  return [event, recorded(problemIn(event).receipt), code];
}

test.each(CASES)(
  "$code is the same over HTTP and on a socket, with the same receipt",
  async (one) => {
    const [told, entry] = await overHttp(one);
    await fixture.stop();
    const [event, socketEntry, close] = await overSocket(one);
    expect(told).toMatchObject({ code: one.code, receipt: expect.stringMatching(/^agui-/) });
    expect(event).toMatchObject({ type: "RUN_ERROR", code: one.code, message: told["title"] });
    const { receipt: _receipt, ...problem } = told;
    expect(problemIn(event)).toEqual({ ...problem, receipt: expect.stringMatching(/^agui-/) });
    expect(socketEntry).toEqual(entry);
    expect(close).toBe(told.status === 400 ? 1003 : 1008);
  },
);

test("a socket's client is told the open interrupts", async () => {
  const incomplete = CASES.find(({ code }) => code === "ERR_RESUME_INCOMPLETE") as Case;
  const [event] = await overSocket(incomplete);
  expect(problemIn(event)).toMatchObject({ interrupts: ["i1"], status: 403 });
});

test("an unreachable agent is reported with its own code and the same problem as over HTTP", async () => {
  await begin({ url: new URL("http://127.0.0.1:9/") });
  const told = (await (await post(textOf({ runId: "r1" }))).json()) as ToldProblem;
  const talk = await openTalk(`${fixture.webSocketUrl}/ws`, bearer("alice"));
  talk.say(textOf({ runId: "r2" }));
  await vi.waitFor(() => expect(talk.seen).toHaveLength(1));
  expect(talk.seen[0]).toMatchObject({ type: "RUN_ERROR", code: "AGENT_UNREACHABLE" });
  expect(problemIn(talk.seen[0] as SeenEvent)).toEqual(told);
  // The next run may succeed.
  expect(talk.socket.readyState).toBe(talk.socket.OPEN);
  talk.socket.close();
});

test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
  "the official client %s accepts a refusal with its problem",
  async (version) => {
    const [event] = await overSocket(
      CASES.find(({ code }) => code === "ERR_RESUME_INCOMPLETE") as Case,
    );
    const agent = await startFakeAgent(() => ({ pieces: [sseFrame(event)] }));
    const run = await runClient(agent.url, { version });
    await agent.stop();
    expect(run.error).toBeUndefined();
    expect(run.events).toMatchObject([{ type: "RUN_ERROR", code: "ERR_RESUME_INCOMPLETE" }]);
    expect(run.events[0]?.["metadata"]).toEqual(event["metadata"]);
  },
);
