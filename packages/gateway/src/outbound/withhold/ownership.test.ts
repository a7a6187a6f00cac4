import type { AgUiEvent, Message, RunAgentInput } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { officialResult, officialVerdict } from "../../../../wire/src/testing/official-pipeline.js";
import type { EventContext } from "../../event/event-context.js";
import { call, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

const SECRET = "s3cret";
const IDS = { threadId: "t", runId: "r" };
const ASK = { name: "ask", description: "asks", parameters: { type: "object" } };

const USER: Message = { id: "u1", role: "user", content: "send 5", metadata: { at: 1 } };
const SYSTEM: Message = { id: "s1", role: "system", content: "be kind" };
const ASSISTANT: Message = {
  id: "a1",
  role: "assistant",
  content: "may I?",
  toolCalls: [{ id: "c", type: "function", function: { name: "ask", arguments: "{}" } }],
};
const ANSWER: Message = { id: "t1", role: "tool", toolCallId: "c", content: "no" };
const HISTORY = [SYSTEM, USER, ASSISTANT, ANSWER];

const input = (messages: Message[]): RunAgentInput =>
  ({ ...IDS, messages, tools: [ASK], context: [], state: {} }) as RunAgentInput;

type Outcome = { delivered: AgUiEvent[]; contexts: EventContext[]; blocked: Set<string> };

async function through(
  events: readonly object[],
  { policy = OPEN_POLICY, messages = HISTORY }: { policy?: string; messages?: Message[] } = {},
): Promise<Outcome> {
  const gateway = createInProcess(policy);
  const { delivered, contexts } = await gateway.run(input(messages), frames(inRun(IDS, events)));
  await gateway.close();
  expect(officialVerdict(delivered).message).toBeUndefined();
  expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
  const blocked = new Set<string>();
  for (const { decision } of contexts) if (decision?.allow === false) blocked.add(decision.rule);
  return { delivered, contexts, blocked };
}

const snapshot = (messages: readonly object[]): object => ({ type: "MESSAGES_SNAPSHOT", messages });
const listOf = (delivered: readonly AgUiEvent[]): Message[] =>
  delivered.findLast((event) => event.type === "MESSAGES_SNAPSHOT")?.messages ?? [];

const reasoning = (messageId: string): object[] => [
  { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId, delta: SECRET },
  { type: "REASONING_MESSAGE_END", messageId, metadata: { note: SECRET } },
];
const activity = (messageId: string): object[] => [
  { type: "ACTIVITY_SNAPSHOT", messageId, activityType: "card", content: { html: SECRET } },
  {
    type: "ACTIVITY_DELTA",
    messageId,
    activityType: "card",
    patch: [{ op: "add", path: "/x", value: SECRET }],
  },
];

const INTRUSIONS: Record<string, (id: string) => object[]> = {
  text: (id) => text(id, SECRET),
  "text in the same role": (id) => text(id, SECRET, { role: "user" }),
  "a text chunk": (id) => [{ type: "TEXT_MESSAGE_CHUNK", messageId: id, delta: SECRET }],
  reasoning,
  "a reasoning chunk": (id) => [{ type: "REASONING_MESSAGE_CHUNK", messageId: id, delta: SECRET }],
  "an activity": activity,
  "an encrypted value": (id) => [
    {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: id,
      encryptedValue: SECRET,
    },
  ],
  "the start of a call": (id) => [
    { type: "TOOL_CALL_START", toolCallId: `of ${id}`, toolCallName: "x", parentMessageId: id },
    { type: "TOOL_CALL_ARGS", toolCallId: `of ${id}`, delta: SECRET },
    { type: "TOOL_CALL_END", toolCallId: `of ${id}` },
  ],
  "a chunk of a call": (id) => [
    {
      type: "TOOL_CALL_CHUNK",
      toolCallId: `of ${id}`,
      toolCallName: "x",
      parentMessageId: id,
      delta: SECRET,
    },
  ],
  "a result": (id) => [
    { type: "TOOL_CALL_RESULT", messageId: id, toolCallId: "other", content: SECRET },
  ],
};

test.each(Object.entries(INTRUSIONS))(
  "%s under the id of a message of the person or their application is blocked, and the message stays visible",
  async (_name, make) => {
    const events = [...make("u1"), ...make("s1"), snapshot(HISTORY), ...text("m", "fine")];
    const { delivered, blocked } = await through(events);
    expect(JSON.stringify(delivered)).not.toContain(SECRET);
    expect([...blocked]).toEqual(["gateway/message-role"]);
    expect(listOf(delivered)).toEqual(HISTORY);
    expect(delivered.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")).toHaveLength(1);
  },
);

test("text, reasoning and activities do not write into a result or into each other", async () => {
  const { delivered, blocked } = await through([
    ...text("t1", SECRET),
    ...text("m", "fine"),
    ...reasoning("m"),
    ...activity("m"),
    ...activity("a1"),
    { type: "ACTIVITY_SNAPSHOT", messageId: "x", activityType: "card", content: {} },
    ...text("x", SECRET),
    // Its parent is a result, so the client puts it into a message with the id of the call.
    { type: "TOOL_CALL_START", toolCallId: "d", toolCallName: "other", parentMessageId: "t1" },
    { type: "TOOL_CALL_END", toolCallId: "d" },
    ...reasoning("d"),
    snapshot([...HISTORY, { id: "m", role: "assistant", content: "fine" }]),
  ]);
  expect(JSON.stringify(delivered)).not.toContain(SECRET);
  expect([...blocked]).toEqual(["gateway/message-role"]);
  expect(listOf(delivered).map(({ id }) => id)).toEqual(["s1", "u1", "a1", "t1", "m"]);
});

/** Messages of every role from the agent, each with its own id. */
const OWN: Record<string, readonly object[]> = {
  m1: text("m1", "fine"),
  r1: reasoning("r1"),
  k1: activity("k1"),
  o1: [
    ...call("o", "other", "{}"),
    { type: "TOOL_CALL_RESULT", messageId: "o1", toolCallId: "o", content: "done" },
  ],
};

test("a call or a subagent is attached to an assistant message or to a new one, and none of the agent's own is lost", async () => {
  const parents = [...HISTORY.map(({ id }) => id), ...Object.keys(OWN), "new", "new2", ""];
  const link = fc.record({
    parent: fc.constantFrom(...parents),
    form: fc.constantFrom("start", "chunk", "subagent"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(link, { maxLength: 8 }), async (links) => {
      const events = links.flatMap(({ parent: parentMessageId, form }, index): object[] => {
        const id = `call ${index}`;
        const named = { toolCallId: id, toolCallName: "other", parentMessageId };
        if (form === "chunk") return [{ type: "TOOL_CALL_CHUNK", ...named, delta: "{}" }];
        if (form === "subagent") {
          return [
            { type: "SUBAGENT_STARTED", subagentRunId: id, name: "n", parentMessageId },
            { type: "SUBAGENT_FINISHED", subagentRunId: id },
          ];
        }
        return [
          { type: "TOOL_CALL_START", ...named },
          { type: "TOOL_CALL_END", toolCallId: id },
        ];
      });
      const { delivered, blocked } = await through([...Object.values(OWN).flat(), ...events]);
      const allowed = new Set([undefined, "", "a1", "m1", "new", "new2"]);
      const shown = new Map<string, string | undefined>();
      for (const event of delivered) {
        if (event.type === "TOOL_CALL_START") shown.set(event.toolCallId, event.parentMessageId);
        if (event.type === "SUBAGENT_STARTED")
          shown.set(event.subagentRunId, event.parentMessageId);
      }
      expect([...shown.values()].filter((parent) => !allowed.has(parent))).toEqual([]);
      const isPersons = (parent: string): boolean => parent === "u1" || parent === "s1";
      const expected = links.flatMap(({ parent, form }, index) =>
        form !== "subagent" && isPersons(parent) ? [] : [`call ${index}`],
      );
      expect([...shown.keys()].filter((id) => id.startsWith("call"))).toEqual(expected);
      expect([...blocked].filter((rule) => rule !== "gateway/message-role")).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

/** Calls of `slow` are held until they are complete; a text that begins with "no" is withheld. */
const HOLDING = `${OPEN_POLICY}  ag_ui_tools: { call: { default: allow }, arguments: { slow: { type: object } } }
  ag_ui_conditions:
    rules: [{ id: no, when: 'has(event.delta) && event.type == "TEXT_MESSAGE_CONTENT" && event.delta.startsWith("no")' }]
`;

test("for any ids of messages and calls, the client never has an assistant message beside another message with its id", async () => {
  const ids = ["a1", "c", "x", "y", "z"];
  const id = fc.constantFrom(...ids);
  const parent = fc.constantFrom(undefined, "", ...ids);
  const toolCallName = fc.constantFrom("other", "slow");
  const started = fc.record({ toolCallId: id, toolCallName, parentMessageId: parent });
  const unit = fc.oneof(
    fc.tuple(id, fc.constantFrom("fine", "no")).map(([name, said]) => text(name, said)),
    id.map(reasoning),
    started.map(({ toolCallId, ...rest }) => [
      { type: "TOOL_CALL_START", toolCallId, ...rest },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId },
    ]),
    started.map((named) => [{ type: "TOOL_CALL_CHUNK", ...named, delta: "{}" }]),
    id.map((toolCallId) => [
      { type: "TOOL_CALL_RESULT", messageId: `of ${toolCallId}`, toolCallId, content: "done" },
    ]),
  );
  // A call stays open during the unit after it.
  const interleaved = fc.tuple(started, unit).map(([named, between]) => {
    const { toolCallId } = named;
    const isOfIt = between.some(
      (event) => (event as { toolCallId?: string }).toolCallId === toolCallId,
    );
    const end = { type: "TOOL_CALL_END", toolCallId };
    return [{ type: "TOOL_CALL_START", ...named }, ...(isOfIt ? [] : between), end];
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(unit, interleaved), { maxLength: 6 }), async (units) => {
      const gateway = createInProcess(HOLDING);
      const { delivered } = await gateway.run(input(HISTORY), frames(inRun(IDS, units.flat())));
      await gateway.close();
      const { messages } = await officialResult(input(HISTORY), delivered);
      const doubled = messages.filter(
        (message) =>
          message.role === "assistant" &&
          messages.filter(({ id: one }) => one === message.id).length > 1,
      );
      expect(doubled).toEqual([]);
    }),
    { numRuns: 300 },
  );
}, 120_000);

test("a call under the id of its own parent, and calls without a parent, pass", async () => {
  const named = (toolCallId: string, parentMessageId?: string): object[] => [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "other", parentMessageId },
    { type: "TOOL_CALL_END", toolCallId },
    { type: "TOOL_CALL_RESULT", messageId: `of ${toolCallId}`, toolCallId, content: "done" },
  ];
  const events = [...text("m", "fine"), ...named("m", "m"), ...named("d"), ...named("e", "d")];
  const { blocked } = await through([...events, ...named("f", "new"), ...named("g", "new")]);
  expect(blocked).toEqual(new Set());
});

test("an intrusion that is tagged with a withheld subagent does not hide the person's message", async () => {
  const policy = `${OPEN_POLICY}  ag_ui_conditions:
    rules: [{ id: spy, effect: block, when: 'has(event.type) && event.type == "SUBAGENT_STARTED"' }]
`;
  const { delivered } = await through(
    [
      { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "spy" },
      ...text("u1", SECRET, { subagentRunId: "s" }),
      { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
      snapshot(HISTORY),
    ],
    { policy },
  );
  expect(listOf(delivered)).toEqual(HISTORY);
});

test.each([
  ["the person's words", { ...USER, content: SECRET }],
  ["the person's words in parts", { ...USER, content: [{ type: "text", text: SECRET }] }],
  ["who said it", { id: "u1", role: "assistant", content: SECRET }],
  ["that it was said", { id: "u1", role: "activity", activityType: "x", content: { x: SECRET } }],
  ["the application's words", { ...SYSTEM, content: SECRET }],
  ["the person's answer", { ...ANSWER, content: SECRET }],
  ["the call that was answered", { ...ANSWER, toolCallId: "other", error: SECRET }],
])("a message list cannot change %s: the original is put back, on record", async (_name, fake) => {
  const forged = HISTORY.map((message) => (message.id === fake.id ? fake : message));
  const { delivered, contexts } = await through([snapshot(forged)]);
  expect(listOf(delivered)).toEqual(HISTORY);
  const parts = contexts.filter(({ isListedPart }) => isListedPart);
  expect(parts.map(({ decision }) => decision)).toMatchObject([
    { allow: false, rule: "gateway/rewritten" },
  ]);
  const list = contexts.find(({ event }) => event?.type === "MESSAGES_SNAPSHOT");
  expect(list?.emitted).toBeDefined();
});

test("an echoed input cannot change a message, and an unchanged list is sent unchanged", async () => {
  const gateway = createInProcess(OPEN_POLICY);
  const { delivered } = await gateway.run(
    input(HISTORY),
    frames([
      {
        type: "RUN_STARTED",
        ...IDS,
        input: { ...IDS, messages: [{ ...USER, content: SECRET }, ANSWER] },
      },
      snapshot(HISTORY),
      { type: "RUN_FINISHED", ...IDS },
    ]),
  );
  await gateway.close();
  expect(delivered[0]).toMatchObject({ input: { messages: [USER, ANSWER] } });
  const { contexts } = await through([snapshot(HISTORY)]);
  const list = contexts.find(({ event }) => event?.type === "MESSAGES_SNAPSHOT");
  expect(list?.emitted).toBeUndefined();
});

test("a field that a framework loses is restored without a block", async () => {
  const { metadata: _lost, ...bare } = USER;
  const { delivered, blocked } = await through([snapshot([SYSTEM, bare, ASSISTANT, ANSWER])]);
  expect(listOf(delivered)).toEqual(HISTORY);
  expect(blocked.size).toBe(0);
});

test("an invented result does not hide the person's answer, and no result takes its id", async () => {
  const { delivered, blocked } = await through([
    { type: "TOOL_CALL_RESULT", messageId: "x", toolCallId: "c", content: SECRET },
    { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "other", content: SECRET },
    snapshot(HISTORY),
  ]);
  expect(JSON.stringify(delivered)).not.toContain(SECRET);
  expect([...blocked].toSorted()).toEqual(["gateway/result", "gateway/rewritten"]);
  expect(listOf(delivered)).toEqual(HISTORY);
});

test("an agent's own result cannot move to a call that only the client answers, and is judged again if it changes", async () => {
  const policy = `${OPEN_POLICY}  ag_ui_conditions:
    rules:
      - { id: word, effect: block, when: 'has(event.type) && event.type == "TOOL_CALL_RESULT" && event.content == "${SECRET}"' }
`;
  const own = (fields: object): object => ({
    id: "x",
    role: "tool",
    toolCallId: "d",
    content: "1",
    ...fields,
  });
  const streamed = [
    ...call("d", "other", "{}"),
    { type: "TOOL_CALL_RESULT", messageId: "x", toolCallId: "d", content: "1" },
  ];
  const moved = await through([...streamed, snapshot([own({ toolCallId: "c" })])]);
  expect(listOf(moved.delivered)).toEqual(HISTORY);
  expect([...moved.blocked]).toEqual(["gateway/rewritten"]);
  const changed = await through([...streamed, snapshot([own({ content: SECRET })])], { policy });
  expect(listOf(changed.delivered)).toEqual(HISTORY);
  const same = await through([...streamed, snapshot([own({})])], { policy });
  expect(listOf(same.delivered)).toHaveLength(5);
});

test("the person's messages and answers survive a message list that leaves out any part of them", async () => {
  const later: Message = { id: "u2", role: "user", content: "and 6" };
  const messages = [...HISTORY, later];
  const other = { id: "a9", role: "assistant", content: "new" };
  const rest = fc.subarray([...messages, other], { minLength: 0 });
  await fc.assert(
    fc.asyncProperty(rest, async (left) => {
      const { delivered, blocked } = await through([snapshot(left)], { messages });
      const shown = listOf(delivered);
      const ids = shown.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const kept = messages.filter(({ id }) => left.some((one) => one.id === id) || id !== "a1");
      const expected = kept.map((one) => one.id);
      // A result comes with its call.
      if (!left.some(({ id }) => id === "t1") && !expected.includes("a1")) {
        expected.splice(2, 0, "a1");
      }
      expect(ids.filter((id) => id !== "a9")).toEqual(expected);
      expect(ids.includes("a9")).toBe(left.includes(other as never));
      const isLost = ["u1", "u2", "t1"].some((id) => !left.some((one) => one.id === id));
      expect([...blocked]).toEqual(isLost ? ["gateway/rewritten"] : []);
      const own = messages.filter(({ id }) => ids.includes(id));
      expect(shown.filter(({ id }) => id !== "a9")).toEqual(own);
    }),
    { numRuns: 60 },
  );
});

test("the result of a held call is not in a message list before the call is judged", async () => {
  const policy = `${OPEN_POLICY}  ag_ui_tools:
    arguments: { pay: { type: object, properties: { amount: { maximum: 100 } } } }
`;
  const result = { id: "x", role: "tool", toolCallId: "p", content: SECRET };
  const [start, ...rest] = call("p", "pay", '{"amount":5}');
  const early = await through([start ?? {}, snapshot([...HISTORY, result]), ...rest], { policy });
  expect(JSON.stringify(early.delivered)).not.toContain(SECRET);
  expect(listOf(early.delivered)).toEqual(HISTORY);
  const late = await through([start ?? {}, ...rest, snapshot([...HISTORY, result])], { policy });
  expect(listOf(late.delivered)).toHaveLength(5);
});

test.each(["", "  ag_ui_tools:\n    arguments: { other: { type: object } }\n"])(
  "a call of the history is not opened again, under any name; its result stays legal",
  async (tools) => {
    const history: Message[] = [
      USER,
      {
        id: "a2",
        role: "assistant",
        toolCalls: [{ id: "h", type: "function", function: { name: "other", arguments: "{}" } }],
      },
      ASSISTANT,
    ];
    const { delivered, blocked } = await through(
      [
        ...call("h", "other", SECRET),
        { type: "TOOL_CALL_CHUNK", toolCallId: "h", toolCallName: "other", delta: SECRET },
        // Under another name it would no longer be the tool that only the client answers.
        ...call("c", "other", SECRET),
        { type: "TOOL_CALL_RESULT", messageId: "y", toolCallId: "c", content: SECRET },
        { type: "TOOL_CALL_RESULT", messageId: "x", toolCallId: "h", content: "done" },
        snapshot(history),
      ],
      { policy: OPEN_POLICY + tools, messages: history },
    );
    expect(JSON.stringify(delivered)).not.toContain(SECRET);
    expect([...blocked].toSorted()).toEqual(["gateway/known-call", "gateway/result"]);
    expect(delivered.filter(({ type }) => type.startsWith("TOOL_CALL"))).toMatchObject([
      { type: "TOOL_CALL_RESULT", content: "done" },
    ]);
    expect(listOf(delivered)).toEqual(history);
  },
);
