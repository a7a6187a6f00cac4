import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { createMemoryStore } from "../store/memory-store.js";
import { call, idsOf, inRun, text } from "../testing/events.js";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { sseEvents } from "../testing/transports.js";

const PAY = '{"amount":5}';
let script: (request: FakeRequest) => object[];
let fixtures: Fixture[] = [];
let runs = 0;

/** Two gateways that share one ledger: the runs of a thread alternate between them, as after a restart. */
beforeEach(async () => {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  const start = (): Promise<Fixture> =>
    startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
      policy: OPEN_POLICY,
      gateway: { ledger },
    });
  fixtures = [await start(), await start()];
});
afterEach(async () => {
  for (const one of fixtures) await one.stop();
});

type Heard = { acts: string[]; questions: string[]; types: string[]; code: string };

/** Sends a request at the next gateway; the agent answers with these events. */
async function send(
  events: (ids: { threadId: string; runId: string }) => object[],
  fields: object = {},
): Promise<Heard> {
  script = ({ body }) => events(idsOf(body));
  runs += 1;
  const response = await fetch(`${fixtures[runs % 2]?.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({
      threadId: "t",
      runId: `r${runs}`,
      protocolVersion: "1.0",
      messages: [],
      ...fields,
    }),
  });
  const stream = await response.text();
  if (response.status !== 200) {
    const { code } = JSON.parse(stream) as { code: string };
    return { acts: [], questions: [], types: [], code };
  }
  const seen = sseEvents(stream);
  return {
    acts: seen.flatMap(actsOf),
    questions: seen.flatMap((event) =>
      ((event as End).outcome?.interrupts ?? []).map(({ id }) => id),
    ),
    types: seen.map(({ type }) => `${type}`),
    code: "200",
  };
}

type End = { outcome?: { interrupts?: { id: string }[] } };
type Listed = { role: string; toolCallId: string; toolCalls?: { id: string }[] };

/** The calls, results and subagents that an event shows. */
function actsOf(event: Record<string, unknown>): string[] {
  if (event["type"] === "TOOL_CALL_START") return [`call ${event["toolCallId"]}`];
  if (event["type"] === "TOOL_CALL_RESULT") return [`result ${event["toolCallId"]}`];
  if (event["type"] === "SUBAGENT_STARTED") return [`subagent ${event["subagentRunId"]}`];
  if (event["type"] !== "MESSAGES_SNAPSHOT") return [];
  return (event["messages"] as Listed[]).flatMap(({ role, toolCallId, toolCalls = [] }) =>
    role === "tool" ? [`result ${toolCallId}`] : toolCalls.map(({ id }) => `call ${id}`),
  );
}

const run = (events: object[], fields: object = {}, interrupts: object[] = []): Promise<Heard> =>
  send((ids) => {
    const all = inRun(ids, events);
    const outcome = { type: "interrupt", interrupts };
    return interrupts.length === 0 ? all : [...all.slice(0, -1), { ...all.at(-1), outcome }];
  }, fields);

const asks = (id: string, toolCallId?: string, more: object = {}): object => ({
  id,
  reason: "tool_call",
  ...(toolCallId === undefined ? {} : { toolCallId }),
  ...more,
});
const yes = (...ids: string[]): object => ({
  resume: ids.map((interruptId) => ({ interruptId, status: "resolved" })),
});
const no = (...ids: string[]): object => ({
  resume: ids.map((interruptId) => ({ interruptId, status: "cancelled" })),
});
const pay = (id: string, args = PAY): object[] => call(id, "pay", args);
const result = (toolCallId: string): object => ({
  type: "TOOL_CALL_RESULT",
  messageId: `m-${toolCallId}`,
  toolCallId,
  content: "paid",
});
const listedResult = (toolCallId: string): object => ({
  type: "MESSAGES_SNAPSHOT",
  messages: [{ id: `l-${toolCallId}`, role: "tool", toolCallId, content: "paid" }],
});
const subagent = (parentToolCallId: string): object[] => [
  { type: "SUBAGENT_STARTED", subagentRunId: `s-${parentToolCallId}`, name: "s", parentToolCallId },
  { type: "SUBAGENT_FINISHED", subagentRunId: `s-${parentToolCallId}` },
];
const FAILURE = { type: "RUN_ERROR", message: "no" };

const ask = (): Promise<Heard> => run(pay("c1"), {}, [asks("i1", "c1")]);

/** The ways to carry out the call that the person was asked about. */
const CARRIED_OUT: [string, object[]][] = [
  ["a result", [result("c1")]],
  ["a listed result", [listedResult("c1")]],
  ["a subagent", subagent("c1")],
];

test.each(CARRIED_OUT)(
  "an approval allows %s of the call or one new call, not both",
  async (_, events) => {
    await ask();
    const carriedOut = await run([...events, ...pay("n1"), result("n1")], yes("i1"));
    expect(carriedOut.acts).toHaveLength(1);
    await run(pay("c2"), {}, [asks("i2", "c2")]);
    const again = JSON.parse(JSON.stringify(events).replaceAll("c1", "c2")) as object[];
    const renewed = await run([...pay("n2"), result("n2"), ...again], yes("i2"));
    expect(renewed.acts).toEqual(["call n2", "result n2"]);
  },
);

test.each(CARRIED_OUT)(
  "an approval that %s used stays used after a run that failed, and the agent may ask again",
  async (_, events) => {
    await ask();
    expect((await run([...events, FAILURE], yes("i1"))).acts).toHaveLength(1);
    expect((await run([...pay("n1"), FAILURE], yes("i1"))).acts).toEqual([]);
    // The same call is no second one.
    expect((await run([result("c1"), FAILURE], yes("i1"))).acts).toEqual(["result c1"]);
    const asked = await run(pay("n2"), yes("i1"), [asks("i2", "n2")]);
    expect(asked).toMatchObject({ acts: ["call n2"], questions: ["i2"] });
    expect((await run([result("n2")], yes("i2"))).acts).toEqual(["result n2"]);
  },
);

test("a call that used the approval in a failed run leaves none for the result of the old call", async () => {
  await ask();
  expect((await run([...pay("n1"), FAILURE], yes("i1"))).acts).toEqual(["call n1"]);
  expect((await run([result("c1"), FAILURE], yes("i1"))).acts).toEqual([]);
  expect((await run([result("n1")], yes("i1"))).acts).toEqual(["result n1"]);
});

test("two approvals of equal calls allow two executions, in any form", async () => {
  await run([...pay("c1"), ...pay("c2")], {}, [asks("i1", "c1"), asks("i2", "c2")]);
  const events = [...pay("n1"), result("n1"), result("c1"), result("c2"), ...pay("n2")];
  expect((await run(events, yes("i1", "i2"))).acts).toEqual(["call n1", "result n1", "result c1"]);
});

test("the result of a declined call uses no approval of an equal call", async () => {
  await run([...pay("c1"), ...pay("c2")], {}, [asks("i1", "c1"), asks("i2", "c2")]);
  const resume = [
    { interruptId: "i1", status: "cancelled" },
    { interruptId: "i2", status: "resolved" },
  ];
  const failed = await run([result("c1"), FAILURE], { resume });
  expect(failed.acts).toEqual(["result c1"]);
  const { acts } = await run([result("c1"), ...pay("n1"), ...pay("n2")], { resume });
  expect(acts).toEqual(["result c1", "call n1"]);
});

test("the result of a declined call arrives, and a subagent for it does not", async () => {
  await ask();
  const { acts } = await run([result("c1"), ...subagent("c1")], no("i1"));
  expect(acts).toEqual(["result c1"]);
  expect((await run([...subagent("c1"), ...pay("n1"), ...subagent("n1")])).acts).toEqual([]);
});

test.each(CARRIED_OUT)(
  "%s is blocked while the question is open, and arrives after the answer",
  async (_, events) => {
    await ask();
    expect((await run(events)).acts).toEqual([]);
    expect((await run(events)).acts).toEqual([]);
    expect((await run(events, yes("i1"))).acts).toHaveLength(1);
    expect((await run(pay("n1"))).acts).toEqual(["call n1"]);
  },
);

test("a call that was blocked while the question was open arrives under its id after the answer", async () => {
  await ask();
  expect((await run(pay("n1"))).acts).toEqual([]);
  expect((await run([...pay("n1"), ...pay("n2")], yes("i1"))).acts).toEqual(["call n1"]);
  await run(pay("c3"), {}, [asks("i3", "c3")]);
  expect((await run(pay("n3"))).acts).toEqual([]);
  expect((await run(pay("n3"), no("i3"))).acts).toEqual([]);
});

/** Questions that are not the first one, with its id. */
const OTHERS: [string, object[], object][] = [
  ["about another call", pay("c2", '{"amount":5000}'), asks("i1", "c2")],
  ["about another tool", call("c2", "look", "{}"), asks("i1", "c2")],
  ["about a call that was not delivered", [], asks("i1", "c9", { metadata: { toolName: "pay" } })],
  ["about no call", [], asks("i1", undefined, { message: "May I?" })],
];

test.each(OTHERS)(
  "a question %s with the id of an open question does not reach the person, and the first one stays",
  async (_, events, question) => {
    await ask();
    const { questions, types } = await run(events, {}, [question]);
    expect(questions).toEqual([]);
    expect(types.at(-1)).toBe("RUN_ERROR");
    const acts = [...pay("n1", '{"amount":5000}'), ...pay("n2"), result("c2")];
    expect((await run(acts, yes("i1"))).acts.filter((act) => act !== "result c2")).toEqual([
      "call n2",
    ]);
  },
);

test.each([
  ["about a call", [], asks("i1", "c1", { message: "Pay?" })],
  ["about another text", [], asks("i1", undefined, { message: "Delete?" })],
])(
  "a question %s with the id of an open question about no call is blocked",
  async (_, events, question) => {
    await run(pay("c1"), {}, [asks("i1", undefined, { message: "May I go on?" })]);
    expect((await run(events, {}, [question])).questions).toEqual([]);
    const same = asks("i1", undefined, {
      message: "May I go on?",
      expiresAt: "2999-01-01T00:00:00Z",
    });
    expect((await run([], {}, [same])).questions).toEqual(["i1"]);
    expect((await run([], yes("i1"))).code).toBe("200");
  },
);

test("a tool that an undelivered call was asked about cannot be exchanged under the id of the question", async () => {
  const about = (toolName: string): object => asks("i1", "c1", { metadata: { toolName } });
  await run([], {}, [about("look")]);
  expect((await run([], {}, [about("pay")])).questions).toEqual([]);
  expect((await run([], {}, [about("look")])).questions).toEqual(["i1"]);
  expect((await run(call("c1", "pay", PAY), yes("i1"))).acts).toEqual([]);
});

test("an answered question leaves its id to the next one", async () => {
  await ask();
  const next = await run(pay("c2", '{"amount":7}'), yes("i1"), [asks("i1", "c2")]);
  expect(next.questions).toEqual(["i1"]);
  expect((await run([...pay("n1"), result("c2")], yes("i1"))).acts).toEqual(["result c2"]);
});

test("a run that follows its question in the same stream is blocked, as nobody has answered", async () => {
  const { acts, questions } = await send((ids) => {
    const second = { ...ids, runId: `${ids.runId}-b` };
    const end = { outcome: { type: "interrupt", interrupts: [asks("i1", "c2")] } };
    return [
      { type: "RUN_STARTED", ...ids },
      ...pay("c1"),
      { ...inRun(ids, []).at(-1), outcome: { type: "interrupt", interrupts: [asks("i1", "c1")] } },
      { type: "RUN_STARTED", ...second },
      result("c1"),
      ...pay("c2", '{"amount":5000}'),
      { type: "RUN_FINISHED", ...second, ...end },
    ];
  });
  expect({ acts, questions }).toEqual({ acts: ["call c1"], questions: ["i1"] });
  const later = await run([...pay("n1", '{"amount":5000}'), ...text("a1", "done")], yes("i1"));
  expect(later.acts).toEqual([]);
  expect(later.types).toContain("TEXT_MESSAGE_END");
});

const answer = (interruptId: string, isGranted: boolean): object =>
  isGranted ? { interruptId, status: "resolved" } : { interruptId, status: "cancelled" };

test.each([
  [[true, true], 1],
  [[true, false], 0],
  [[false, true], 0],
  [[true, true, false], 0],
  [[true, true, true], 1],
])("several questions about one call have one answer: %j allows %i calls", async (said, calls) => {
  const questions = said.map((_, at) => asks(`i${at}`, "c1"));
  await run(pay("c1"), {}, questions);
  const resume = said.map((isGranted, at) => answer(`i${at}`, isGranted));
  const { acts } = await run([...pay("n1"), ...pay("n2"), ...pay("n3")], { resume });
  expect(acts).toHaveLength(calls);
});

/** Answers that people give in the forms of real frameworks, and of clients with their own. */
const DECLINED: unknown[] = [
  false,
  0,
  "no",
  " No ",
  "REJECT",
  "rejected",
  "denied",
  "cancelled",
  "canceled",
  "not approved",
  { approved: false },
  { approved: "false" },
  { approved: null },
  { accepted: false },
  { confirmed: "no" },
  { Allowed: 0 },
  { decision: "reject" },
  { type: "reject", message: "too much" },
  { action: "decline", content: {} },
  { status: "Denied" },
  [{ type: "ignore", args: null }],
  { decisions: [], result: { approved: false } },
  // LangChain's middleware, Claude Code, ACP, OpenAI, and clients that answer with a text of JSON.
  { decisions: [{ type: "reject", message: "too much" }] },
  { decisions: [{ type: "approve" }, { type: "reject" }] },
  { behavior: "deny", message: "too much" },
  { outcome: { outcome: "cancelled" } },
  { outcome: { outcome: "selected", optionId: "reject_once" } },
  { type: "mcp_approval_response", approve: false },
  '{"approved":false}',
  ' {"decisions":[{"type":"reject"}]}',
  JSON.stringify(JSON.stringify({ approved: false })),
  '"no"',
  { payload: '{"approved":false}' },
  { isApproved: false },
  { is_approved: false },
  { userApproved: false },
  { authorized: false },
  { granted: false },
  { rejected: true },
  { denied: 1 },
  { cancelled: "true" },
  { decline: { reason: "" } },
  { permission: "deny" },
  { approval: "rejected" },
  { choice: "Reject once" },
  "rejectAlways",
  "REJECT-ONCE",
  "No, thanks",
  "no.",
  "No - too much",
  "no\u200b",
  "\uff4e\uff4f",
  "do not approve",
  "Don't allow",
  "User denied this action",
  "the user has rejected the tool call",
  "never mind",
];
const APPROVED: unknown[] = [
  undefined,
  null,
  true,
  "yes",
  "Nothing else, thanks",
  "now",
  {},
  { approved: true },
  { approved: true, comment: "no problem" },
  { accepted: "true" },
  { decision: "approve" },
  { type: "edit", args: { amount: 5, reason: "no" } },
  [{ type: "accept", args: null }],
  { action: "accept", content: { newsletter: false } },
  { amount: 0, note: "cancel the other one" },
  { decisions: [{ type: "approve" }] },
  { decisions: [{ type: "edit", edited_action: { name: "pay", args: { rejected: true } } }] },
  { approved: true, rejected: false, denied: null, cancelled: "no" },
  { outcome: { outcome: "selected", optionId: "allow_once" } },
  '{"approved":true}',
  "{not JSON",
  "No problem, go ahead",
  "I approve; do not ask again",
  { comment: "reject" },
];

test.each([
  ...DECLINED.map((payload) => [payload, []] as const),
  ...APPROVED.map((payload) => [payload, ["call n1"]] as const),
])("an answer declines in every common form, and in no other: %j", async (payload, acts) => {
  await ask();
  const resume = [
    { interruptId: "i1", status: "resolved", ...(payload === undefined ? {} : { payload }) },
  ];
  expect((await run(pay("n1"), { resume })).acts).toEqual(acts);
});

test("an agent attaches no encrypted value to a result of the client's own tool", async () => {
  const tools = [{ name: "page_pay", description: "", parameters: {} }];
  await run(call("c1", "page_pay", PAY), { tools });
  const messages = [
    {
      id: "c1",
      role: "assistant",
      toolCalls: [{ id: "c1", type: "function", function: { name: "page_pay", arguments: PAY } }],
    },
    { id: "m1", role: "tool", toolCallId: "c1", content: "paid" },
  ];
  const value = { subtype: "message", entityId: "m1", encryptedValue: "x" };
  const event = { type: "REASONING_ENCRYPTED_VALUE", ...value };
  for (const more of [{ tools }, {}]) {
    const { types } = await run([event], { messages, ...more });
    expect(types).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  }
});
