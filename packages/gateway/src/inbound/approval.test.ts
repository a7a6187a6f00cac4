import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { call, idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

const POLICY = (request: string): string => `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_request: ${request}
`;
const PAY = '{"amount":5}';
let script: (request: FakeRequest) => object[];
let runs = 0;

async function begin(request = "{}"): Promise<void> {
  fixture = await startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
    policy: POLICY(request),
  });
}

type Heard = { code: string; calls: string[] };

/** Runs the agent with these events; returns the responses and the delivered calls. */
async function run(
  events: object[],
  fields: object = {},
  interrupts: object[] = [],
): Promise<Heard> {
  script = ({ body }) => {
    const all = inRun(idsOf(body), events);
    const outcome = { type: "interrupt", interrupts };
    return interrupts.length === 0 ? all : [...all.slice(0, -1), { ...all.at(-1), outcome }];
  };
  runs += 1;
  const base = { threadId: "t", runId: `r${runs}`, protocolVersion: "1.0", messages: [] };
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({ ...base, ...fields }),
  });
  const answer = await response.text();
  const isRun = response.status === 200;
  return {
    code: isRun ? "200" : (JSON.parse(answer) as { code: string }).code,
    calls: isRun ? callsIn(answer) : [],
  };
}

type Shown = { type: string; toolCallId: string; messages: { toolCalls?: { id: string }[] }[] };

/** The ids of the calls that a stream opens, and of those in its message lists. */
function callsIn(stream: string): string[] {
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? ""));
  return (events as Shown[]).flatMap(({ type, toolCallId, messages }) => {
    if (type === "TOOL_CALL_START") return [toolCallId];
    if (type !== "MESSAGES_SNAPSHOT") return [];
    return messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => `listed ${id}`));
  });
}

const asks = (id: string, toolCallId: string): object => ({ id, reason: "tool_call", toolCallId });
const yes = (interruptId: string): object => ({ interruptId, status: "resolved" });
const no = (interruptId: string): object => ({ interruptId, status: "cancelled" });
const resume = (...entries: object[]): object => ({ resume: entries });
const pay = (id: string, args = PAY): object[] => call(id, "pay", args);

/** The agent asks about a payment. */
const ask = (): Promise<Heard> => run(pay("c1"), {}, [asks("i1", "c1")]);

test("one approval allows one call, however often a message list repeats it", async () => {
  await begin();
  await ask();
  const toolCalls = [
    { id: "n1", type: "function", function: { name: "pay", arguments: PAY } },
    { id: "n3", type: "function", function: { name: "pay", arguments: PAY } },
  ];
  const list = {
    type: "MESSAGES_SNAPSHOT",
    messages: [{ id: "n1", role: "assistant", toolCalls }],
  };
  const { calls } = await run([...pay("n1"), ...pay("n2"), list, list], resume(yes("i1")));
  expect(calls).toEqual(["n1", "listed n1", "listed n1"]);
  const blocked = fixture.recorder.drafts.filter(({ rule }) => rule === "gateway/approval");
  expect(JSON.stringify(blocked)).toContain("approved this call once");
});

test("a call that is listed first uses its approval too", async () => {
  await begin();
  await ask();
  const toolCalls = [{ id: "n1", type: "function", function: { name: "pay", arguments: PAY } }];
  const list = {
    type: "MESSAGES_SNAPSHOT",
    messages: [{ id: "n1", role: "assistant", toolCalls }],
  };
  expect((await run([list, ...pay("n2")], resume(yes("i1")))).calls).toEqual(["listed n1"]);
});

test("of two equal calls, one approved and one declined, one passes, and none after it", async () => {
  await begin();
  await run([...pay("c1"), ...pay("c2")], {}, [asks("i1", "c1"), asks("i2", "c2")]);
  const answers = resume(yes("i1"), no("i2"));
  expect((await run([...pay("n1"), ...pay("n2")], answers)).calls).toEqual(["n1"]);
  expect((await run(pay("n3"))).calls).toEqual([]);
});

test.each(["streamed", "listed"])(
  "an approval that a %s call used stays used after a run that failed, and the agent may ask again",
  async (form) => {
    await begin();
    await ask();
    const toolCalls = [{ id: "n1", type: "function", function: { name: "pay", arguments: PAY } }];
    const messages = [{ id: "n1", role: "assistant", toolCalls }];
    const list = { type: "MESSAGES_SNAPSHOT", messages };
    const failure = { type: "RUN_ERROR", message: "no" };
    const first = form === "listed" ? [list] : pay("n1");
    expect((await run([...first, failure], resume(yes("i1")))).calls).toHaveLength(1);
    for (const id of ["n2", "n3"]) {
      expect(await run([...pay(id), failure], resume(yes("i1")))).toEqual({
        code: "200",
        calls: [],
      });
    }
    // The call that used it may be repeated in a list.
    expect((await run([list, failure], resume(yes("i1")))).calls).toEqual(["listed n1"]);
    expect((await run(pay("c2"), resume(yes("i1")), [asks("i2", "c2")])).calls).toEqual(["c2"]);
    expect((await run(pay("n4"), resume(yes("i2")))).calls).toEqual(["n4"]);
  },
);

test("two approvals of equal calls allow two calls", async () => {
  await begin();
  await run([...pay("c1"), ...pay("c2")], {}, [asks("i1", "c1"), asks("i2", "c2")]);
  const events = [...pay("n1"), ...pay("n2"), ...pay("n3")];
  expect((await run(events, resume(yes("i1"), yes("i2")))).calls).toEqual(["n1", "n2"]);
});

test("the shown call, opened again, is the one that was approved or declined", async () => {
  await begin();
  await ask();
  expect((await run(pay("c1", '{"amount":5000}'), resume(yes("i1")))).calls).toEqual([]);
  await run(pay("c2"), {}, [asks("i2", "c2")]);
  expect((await run(pay("c2"), resume(no("i2")))).calls).toEqual([]);
});

test.each(["Pay", "PAY", "pay_", "P.A.Y", " pay!", "p-ay", "p\u0430y", "\uff50ay", "p\u00e0y"])(
  "a tool with a name like the approved one is blocked: %s",
  async (name) => {
    await begin();
    await ask();
    const stream = call("n1", name, '{"amount":5000}');
    const toolCalls = [{ id: "n2", type: "function", function: { name, arguments: PAY } }];
    const list = {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "n2", role: "assistant", toolCalls }],
    };
    const other = call("n3", "refund", "{}");
    const { calls } = await run([...stream, list, ...other, ...pay("n4")], resume(yes("i1")));
    expect(calls).toEqual(["n3", "n4"]);
  },
);

test("another tool under the id of the approved call is blocked", async () => {
  await begin();
  await ask();
  const events = [...call("c1", "transfer", '{"amount":5000}'), ...pay("n1")];
  expect((await run(events, resume(yes("i1")))).calls).toEqual(["n1"]);
});

test("a request cannot skip open interrupts", async () => {
  await begin();
  await ask();
  const other = pay("n1", '{"amount":5000}');
  for (const fields of [
    { messages: [{ id: "u", role: "user", content: "" }] },
    { forwardedProps: { command: { resume: true } } },
    { state: { approved: true } },
    {
      protocolVersion: undefined,
      forwardedProps: { command: { resume: true } },
      resume: [no("x")],
    },
  ]) {
    expect((await run(other, fields)).code).not.toBe("200");
  }
  expect(fixture.agentRequests).toHaveLength(1);
  expect((await run(text("a1", "fine"), resume(no("i1")))).code).toBe("200");
  expect((await run(other)).calls).toEqual(["n1"]);
});

test("a request that says nothing new leaves the question open, and the run may only ask again", async () => {
  await begin();
  await ask();
  const result = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c1", content: "paid" };
  const silent = [{}, { resume: [] }, { protocolVersion: undefined }];
  for (const [index, fields] of silent.entries()) {
    const entries = fixture.recorder.drafts.length;
    const look = `n${index}`;
    const other = pay(`b${index}`, '{"amount":5000}');
    const acts = [result, ...pay(`a${index}`), ...other, ...call(look, "look", "{}")];
    expect(await run(acts, fields)).toEqual({ code: "200", calls: [look] });
    const rules = fixture.recorder.drafts.slice(entries).map(({ rule }) => rule);
    expect(rules).toContain("gateway/approval");
  }
  const next = { messages: [{ id: "u", role: "user", content: "next" }] };
  expect((await run([], next)).code).toBe("ERR_RESUME_INCOMPLETE");
  // The agent asks again about the same call, under a new id of the question.
  await run([], {}, [asks("i2", "c1")]);
  expect((await run([], resume(yes("i1")))).code).toBe("ERR_RESUME_UNKNOWN");
  expect((await run(pay("n9"), resume(yes("i2")))).calls).toEqual(["n9"]);
});

test("a question about another call does not replace one that is open", async () => {
  await begin();
  await ask();
  await run(call("c2", "look", "{}"), {}, [asks("i2", "c2")]);
  expect((await run([], resume(yes("i2")))).code).toBe("ERR_RESUME_INCOMPLETE");
  expect((await run(pay("n1"), resume(yes("i2"), no("i1")))).calls).toEqual([]);
});

test("an approval can be withdrawn while no run has finished with it, and not given again", async () => {
  await begin();
  await ask();
  const failed = (events: object[], fields: object): Promise<Heard> =>
    run([...events, { type: "RUN_ERROR", message: "no" }], fields, []);
  expect((await failed([], resume(yes("i1")))).code).toBe("200");
  const declined = { interruptId: "i1", status: "resolved", payload: { approved: false } };
  expect((await failed(pay("n1"), resume(declined))).calls).toEqual([]);
  expect((await run([], resume(yes("i1")))).code).toBe("ERR_RESUME_ANSWERED");
  expect((await run([], resume(no("i1")))).code).toBe("ERR_RESUME_ANSWERED");
  expect(await run(pay("n2"), resume(declined))).toEqual({ code: "200", calls: [] });
  expect((await run(pay("n3"))).calls).toEqual([]);
  expect((await run([], resume(no("i1")))).code).toBe("ERR_RESUME_UNKNOWN");
});

test("expired interrupts are cancelled, and the thread continues", async () => {
  await begin();
  const expiresAt = "2020-01-01T00:00:00Z";
  await run(pay("c1"), {}, [{ ...asks("i1", "c1"), expiresAt }]);
  const next = { messages: [{ id: "u", role: "user", content: "next" }] };
  expect((await run([], next)).code).toBe("ERR_RESUME_INCOMPLETE");
  expect((await run([], resume(yes("i1")))).code).toBe("ERR_RESUME_EXPIRED");
  expect((await run([], resume(no("i1")))).code).toBe("200");
  expect((await run([])).code).toBe("200");
});

test("a client older than 1.0 may continue without an answer, which approves nothing", async () => {
  await begin();
  await ask();
  const old = { protocolVersion: undefined };
  const events = [...pay("n1"), ...pay("n2", '{"amount":5000}')];
  expect(await run(events, old)).toEqual({ code: "200", calls: [] });
  expect((await run(pay("n3"), old)).calls).toEqual([]);
});

test("a declined call stays declined on its thread until the same call is approved", async () => {
  await begin();
  await ask();
  await run(text("a1", "a pity"), resume(no("i1")));
  const events = [...pay("n1"), ...pay("n2", '{"amount":4}'), ...call("n3", "look", "{}")];
  expect((await run(events)).calls).toEqual(["n2", "n3"]);
  expect((await run(pay("n4"), { threadId: "other" })).calls).toEqual(["n4"]);
  await run([], {}, [asks("i2", "c1")]);
  expect((await run(pay("n5"), resume(yes("i2")))).calls).toEqual(["n5"]);
  expect((await run(pay("n6"))).calls).toEqual(["n6"]);
});

/** Spellings of one value that `JSON.parse` accepts and the gateway refuses. */
const REFUSED = [
  '{"amount":1,"amount":5}',
  '{"amount":5,"\\u0061mount":5}',
  '{"amount":5,"amount":5}',
];

test.each([...REFUSED, '{"amount":5', '{"amount":5}x', "{amount:5}", "\ufeff" + PAY])(
  "a tool with a declined call allows no call with arguments that the gateway cannot parse: %j",
  async (args) => {
    await begin();
    await ask();
    await run(text("a1", "a pity"), resume(no("i1")));
    const toolCalls = [{ id: "n2", type: "function", function: { name: "pay", arguments: args } }];
    const list = {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "n2", role: "assistant", toolCalls }],
    };
    const events = [...pay("n1", args), list, ...call("n3", "look", args), ...pay("n4", "{}")];
    expect((await run(events)).calls).toEqual(["n3", "n4"]);
  },
);

test.each(REFUSED)(
  "a declined call that only the client could parse stays declined in a spelling that all can parse: %j",
  async (args) => {
    await begin();
    await run(pay("c1", args), {}, [asks("i1", "c1")]);
    await run(text("a1", "a pity"), resume(no("i1")));
    expect((await run([...pay("n1"), ...pay("n2", "{}")])).calls).toEqual(["n2"]);
  },
);

test("a thread keeps the newest 64 declined calls", async () => {
  await begin();
  const numbers = Array.from({ length: 65 }, (_, index) => index);
  const events = numbers.flatMap((n) => pay(`c${n}`, `{"n":${n}}`));
  await run(
    events,
    {},
    numbers.map((n) => asks(`i${n}`, `c${n}`)),
  );
  await run([], resume(...numbers.map((n) => no(`i${n}`))));
  const again = numbers.flatMap((n) => pay(`n${n}`, `{"n":${n}}`));
  expect((await run(again)).calls).toEqual(["n0"]);
});

test("an interrupt for a call that was not delivered yet is bound to the call's id", async () => {
  await begin();
  await run([], {}, [asks("i1", "ghost")]);
  const events = [...call("ghost", "pay", '{"amount":999}'), ...call("n1", "look", "{}")];
  expect((await run(events, resume(no("i1")))).calls).toEqual(["n1"]);
  expect((await run(events.slice(0, 3))).calls).toEqual([]);
  await run([], {}, [asks("i2", "ghost2")]);
  expect((await run(call("ghost2", "pay", PAY), resume(yes("i2")))).calls).toEqual(["ghost2"]);
});

test("in observe mode each of these is reported and passes; switched off, none is checked", async () => {
  await begin("{ approval: { mode: observe }, resume: { mode: observe } }");
  await ask();
  expect(await run([...pay("n1"), ...pay("n2")])).toEqual({ code: "200", calls: ["n1", "n2"] });
  const rules = (): unknown[] =>
    fixture.recorder.drafts.filter(({ rule }) => rule === "gateway/unanswered");
  expect(rules()).not.toHaveLength(0);
  await fixture.stop();
  await begin("{ enabled: false }");
  await ask();
  expect((await run(pay("n1"), resume(no("i1")))).calls).toEqual(["n1"]);
  expect((await run(pay("n2"))).calls).toEqual(["n2"]);
  expect(rules()).toHaveLength(0);
});
