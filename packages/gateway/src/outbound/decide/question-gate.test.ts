import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, idsOf, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { sseEvents } from "../../testing/transports.js";

let script: (request: FakeRequest) => object[];
let fixture: Fixture;
let threads = 0;
beforeAll(async () => {
  fixture = await startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
    policy: OPEN_POLICY,
    gateway: { limits: { maxHeldBytes: 100_000 } },
  });
});
afterAll(() => fixture.stop());

const asks = (id: string, toolCallId?: string, metadata?: object): object => ({
  id,
  reason: "tool_call",
  ...(toolCallId === undefined ? {} : { toolCallId }),
  ...(metadata === undefined ? {} : { metadata }),
});
const result = (toolCallId: string): object => ({
  type: "TOOL_CALL_RESULT",
  messageId: `res-${toolCallId}`,
  toolCallId,
  content: "done",
});
const pay = (id: string, n: number): object[] => call(id, "pay", `{"n":${n}}`);
const asking = (ids: object, interrupts: object[]): object => ({
  type: "RUN_FINISHED",
  ...ids,
  outcome: { type: "interrupt", interrupts },
});

type Heard = { calls: string[]; results: string[]; questions: string[]; types: string[] };

/** The person approves `pay {"n":1}`; then the agent sends these events. */
async function afterApproval(
  later: (ids: { threadId: string; runId: string }) => object[],
  { tools = [] as object[], answer = { status: "resolved" } as object | null } = {},
): Promise<Heard> {
  const threadId = `t${++threads}`;
  const send = async (runId: string, fields: object): Promise<string> => {
    const response = await fetch(`${fixture.url}/agents/support`, {
      method: "POST",
      body: JSON.stringify({
        threadId,
        runId,
        protocolVersion: "1.0",
        messages: [],
        tools,
        ...fields,
      }),
    });
    return response.text();
  };
  script = ({ body }) => {
    const [start] = inRun(idsOf(body), []);
    return [start as object, ...pay("c1", 1), asking(idsOf(body), [asks("i1", "c1")])];
  };
  expect(await send("r1", {})).toContain('"i1"');
  script = ({ body }) => [{ type: "RUN_STARTED", ...idsOf(body) }, ...later(idsOf(body))];
  const resume = answer === null ? [] : [{ interruptId: "i1", ...answer }];
  const events = sseEvents(await send("r2", { resume }));
  const of = (type: string): string[] =>
    events
      .filter((event) => event.type === type)
      .map(({ toolCallId }) => `${toolCallId as string}`);
  type End = { outcome?: { interrupts?: { id: string }[] } };
  return {
    calls: of("TOOL_CALL_START"),
    results: of("TOOL_CALL_RESULT"),
    questions: events.flatMap((event) =>
      ((event as End).outcome?.interrupts ?? []).map(({ id }) => id),
    ),
    types: events.map(({ type }) => `${type}`),
  };
}

test("a call and its question arrive together, in the agent's order", async () => {
  const heard = await afterApproval((ids) => [
    ...pay("c2", 1),
    result("c2"),
    ...pay("c3", 2),
    ...text("a1", "may I?"),
    asking(ids, [asks("i2", "c3")]),
  ]);
  expect(heard).toMatchObject({ calls: ["c2", "c3"], results: ["c2"], questions: ["i2"] });
  expect(heard.types.slice(5)).toEqual([
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

test("a declined call may be asked about again", async () => {
  const heard = await afterApproval((ids) => [...pay("c2", 1), asking(ids, [asks("i2", "c2")])], {
    answer: { status: "cancelled" },
  });
  expect(heard).toMatchObject({ calls: ["c2"], questions: ["i2"] });
});

test.each([
  ["streamed under its id", pay("c1", 1), "c1", []],
  ["streamed under a new id", pay("c2", 1), "c2", ["c2"]],
  ["not repeated", [], "c1", []],
])("after a reload the question is asked again, with its call %s", async (_, events, id, calls) => {
  const again = (ids: object): object[] => [...events, asking(ids, [asks("i1", id)])];
  const heard = await afterApproval(again, { answer: null });
  expect(heard).toMatchObject({ calls, questions: ["i1"] });
});

test("one question about several calls, and several questions, each bring their calls", async () => {
  const heard = await afterApproval((ids) => [
    ...pay("c2", 2),
    ...pay("c3", 3),
    ...pay("c4", 4),
    asking(ids, [asks("i2", "c2"), asks("i3", "c3")]),
  ]);
  expect(heard).toMatchObject({ calls: ["c2", "c3"], questions: ["i2", "i3"] });
});

test("a question that names the tool and no call brings the calls of that tool", async () => {
  const named = await afterApproval((ids) => [
    ...pay("c2", 2),
    asking(ids, [asks("i2", undefined, { toolName: "pay" })]),
  ]);
  expect(named).toMatchObject({ calls: ["c2"], questions: ["i2"] });
  const other = await afterApproval((ids) => [
    ...pay("c2", 2),
    asking(ids, [asks("i2", undefined, { toolName: "look" })]),
  ]);
  expect(other).toMatchObject({ calls: [], questions: ["i2"] });
});

test("a call with a result is an act, also if the run asks about it", async () => {
  const heard = await afterApproval((ids) => [
    ...pay("c2", 2),
    ...pay("c3", 3),
    result("c2"),
    asking(ids, [asks("i2", "c2"), asks("i3", "c3")]),
  ]);
  expect(heard).toMatchObject({ calls: ["c3"], results: [], questions: ["i3"] });
});

test("a call that a later run of the same stream carries out unanswered gets no result", async () => {
  const heard = await afterApproval((ids) => {
    const next = { ...ids, runId: "r2b" };
    return [
      ...pay("c2", 2),
      asking(ids, [asks("i2", "c2")]),
      { type: "RUN_STARTED", ...next },
      result("c2"),
      ...pay("c3", 2),
      { type: "RUN_FINISHED", ...next },
    ];
  });
  expect(heard).toMatchObject({ calls: ["c2"], results: [], questions: ["i2"] });
});

test("a client's own tool is not delivered unapproved, with or without a question", async () => {
  const tools = [{ name: "pay", description: "", parameters: {} }];
  const heard = await afterApproval(
    (ids) => [...pay("c2", 2), asking(ids, [asks("i2", "c2"), asks("i3")])],
    { tools },
  );
  expect(heard).toMatchObject({ calls: [], questions: ["i3"] });
});

test("a tool named like the approved one, and arguments that cannot be compared, stay blocked", async () => {
  const heard = await afterApproval((ids) => [
    ...call("c2", "Pay", '{"n":2}'),
    ...call("c3", "pay", '{"n":1,"n":2}'),
    asking(ids, [asks("i2", "c2"), asks("i3", "c3"), asks("i4")]),
  ]);
  expect(heard).toMatchObject({ calls: [], questions: ["i4"] });
});

test.each([
  ["a success", (ids: object) => [{ type: "RUN_FINISHED", ...ids }]],
  ["an error", () => [{ type: "RUN_ERROR", message: "no" }]],
  ["nothing", () => []],
  [
    "an end that violates the order",
    (ids: object) => [
      { type: "TEXT_MESSAGE_START", messageId: "a9", role: "assistant" },
      asking(ids, [asks("i2", "c2")]),
    ],
  ],
])("a run that ends with %s asked nothing, and its texts arrive", async (_, end) => {
  const heard = await afterApproval((ids) => [
    ...pay("c2", 2),
    ...text("a1", "a text"),
    ...end(ids),
  ]);
  expect(heard).toMatchObject({ calls: [], questions: [] });
  expect(heard.types).toContain("TEXT_MESSAGE_END");
});

test("beyond the limit of held bytes the call is blocked, and everything else arrives", async () => {
  const long = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => text(`a${index}`, "x".repeat(10_000))).flat();
  const asksAfter = (count: number): Promise<Heard> =>
    afterApproval((ids) => [
      ...pay("c2", 2),
      ...long(count),
      asking(ids, [asks("i2", "c2"), asks("i3")]),
    ]);
  expect(await asksAfter(8)).toMatchObject({ calls: ["c2"], questions: ["i2", "i3"] });
  const { types, ...rest } = await asksAfter(12);
  expect(rest).toMatchObject({ calls: [], questions: ["i3"] });
  expect(types.filter((type) => type === "TEXT_MESSAGE_END")).toHaveLength(12);
});

test("beyond the limit of changes that wait the call is blocked, and every change arrives", async () => {
  const asksAfter = (count: number): Promise<Heard> =>
    afterApproval((ids) => [
      ...pay("c2", 2),
      ...Array.from({ length: count }, (_, n) => ({ type: "STATE_SNAPSHOT", snapshot: { n } })),
      asking(ids, [asks("i2", "c2"), asks("i3")]),
    ]);
  expect(await asksAfter(90)).toMatchObject({ calls: ["c2"], questions: ["i2", "i3"] });
  const { types, ...rest } = await asksAfter(110);
  expect(rest).toMatchObject({ calls: [], questions: ["i3"] });
  expect(types.filter((type) => type === "STATE_SNAPSHOT")).toHaveLength(110);
});
