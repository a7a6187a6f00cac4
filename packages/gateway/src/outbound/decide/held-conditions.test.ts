import type { RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import { call, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [], tools: [], context: [], state: {} } as RunAgentInput;

const policyOf = (rules: readonly string[]): string => `${OPEN_POLICY}  ag_ui_conditions:
    rules:
${rules.map((rule) => `      - ${rule}\n`).join("")}`;

type Heard = { shown: string; remarks: string[] };

/** The events that a person receives under a policy, and the remarks of observe mode. */
async function heard(policy: string, events: readonly object[]): Promise<Heard> {
  const gateway = createInProcess(policy);
  const { delivered, contexts } = await gateway.run(INPUT, frames(inRun(IDS, events)));
  await gateway.close();
  expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
  const remarks = contexts.flatMap(({ decision }) =>
    decision?.allow === true && decision.observed !== undefined ? [decision.observed.rule] : [],
  );
  return { shown: JSON.stringify(delivered), remarks };
}

const through = async (rules: readonly string[], events: readonly object[]): Promise<string> =>
  (await heard(policyOf(rules), events)).shown;

const HOLDS = "{ id: big, match: { tool: pay }, when: 'event.tools[0].arguments.amount > 10' }";
const STARTS = `{ id: start, when: 'has(event.toolCallName) && event.toolCallName == "pay"' }`;
const WORD = `{ id: word, when: 'has(event.delta) && event.delta.contains("secret")' }`;
const listed = (args: string): object => ({
  type: "MESSAGES_SNAPSHOT",
  messages: [
    {
      id: "m",
      role: "assistant",
      content: "hi",
      toolCalls: [{ id: "c", type: "function", function: { name: "pay", arguments: args } }],
    },
  ],
});

test.each([
  ["alone", [STARTS]],
  ["beside one that holds the call", [HOLDS, STARTS]],
])("a condition about the start of a call is asked, %s", async (_name, rules) => {
  expect(await through(rules, call("c", "pay", '{"amount":1}'))).not.toContain("pay");
  expect(await through(rules, [listed('{"amount":1}')])).not.toContain("pay");
});

test.each([
  ["alone", [WORD]],
  ["beside one that holds the call", [HOLDS, WORD]],
])("a condition about the arguments' text is asked, %s", async (_name, rules) => {
  const args = '{"amount":1,"to":"secret"}';
  expect(await through(rules, call("c", "pay", args))).not.toContain("secret");
  expect(await through(rules, [listed(args)])).not.toContain("secret");
  const rewritten = [...call("c", "pay", '{"amount":1}'), listed(args)];
  expect(await through(rules, rewritten)).not.toContain("secret");
  expect(await through(rules, call("c", "pay", '{"amount":1}'))).toContain("pay");
  expect(await through(rules, [listed('{"amount":1}')])).toContain("pay");
});

test("a condition in observe mode leaves its remark on a held call and on a listed one", async () => {
  const observing = WORD.replace("{ id: word", "{ id: word, mode: observe");
  const args = '{"amount":1,"to":"secret"}';
  for (const events of [call("c", "pay", args), [listed(args)]]) {
    const { shown, remarks } = await heard(policyOf([HOLDS, observing]), events);
    expect(shown).toContain("secret");
    expect(remarks).toContain("ag_ui_conditions.word");
  }
});

test("an evaluation beside a held call is counted once", async () => {
  const policy = `${policyOf([HOLDS])}  velocity:
    - { scope: session, match: { event_type: lifecycle }, max_invocations: 4, window_seconds: 60 }
`;
  const pay = (id: string): object[] => call(id, "pay", '{"amount":1}');
  const { shown } = await heard(policy, [...pay("c"), ...pay("d")]);
  expect(shown.match(/TOOL_CALL_START/g)).toHaveLength(2);
});

const WORN: readonly (readonly [string, object, string])[] = [
  ["a name", { name: "SECRET" }, 'has(event.name) && event.name == "SECRET"'],
  ["metadata", { metadata: { a: "SECRET" } }, "has(event.metadata)"],
  ["an encrypted value", { encryptedValue: "SECRET" }, "has(event.encryptedValue)"],
  ["a subagent", { subagentRunId: "SECRET" }, "has(event.subagentRunId)"],
];

test.each(WORN)(
  "a condition reads %s of a listed message, known or not",
  async (_name, worn, when) => {
    const rule = `{ id: worn, when: '${when}' }`;
    const message = { id: "m", role: "assistant", content: "hi", ...worn };
    for (const before of [[], text("m", "hi")]) {
      const events = [...before, { type: "MESSAGES_SNAPSHOT", messages: [message] }];
      expect(await through([rule], events)).not.toContain("SECRET");
    }
  },
);

test("a condition reads the error of a listed result and the metadata of a listed call", async () => {
  const word = `{ id: word, when: 'has(event.content) && event.content.contains("SECRET")' }`;
  const answer = { id: "r", role: "tool", toolCallId: "c", content: "no", error: "SECRET" };
  const asked = call("c", "look", "{}");
  const events = [...asked, { type: "MESSAGES_SNAPSHOT", messages: [answer] }];
  expect(await through([word], events)).not.toContain("SECRET");
  const called = { id: "c", type: "function", function: { name: "look", arguments: "{}" } };
  for (const [when, worn] of [
    ["has(event.metadata)", { metadata: { a: "SECRET" } }],
    ["has(event.encryptedValue)", { encryptedValue: "SECRET" }],
  ] as const) {
    const message = { id: "c", role: "assistant", toolCalls: [{ ...called, ...worn }] };
    const list = { type: "MESSAGES_SNAPSHOT", messages: [message] };
    for (const before of [[], asked]) {
      const shown = await through([`{ id: worn, when: '${when}' }`], [...before, list]);
      expect(shown).not.toContain("SECRET");
    }
  }
});

test("a condition about a tool's arguments has them, whatever other rules apply to the call", async () => {
  const worn = { metadata: { a: 1 }, encryptedValue: "e" };
  const called = {
    id: "c",
    type: "function",
    function: { name: "pay", arguments: '{"amount":1}' },
  };
  const message = { id: "m", role: "assistant", toolCalls: [{ ...called, ...worn }] };
  const list = { type: "MESSAGES_SNAPSHOT", messages: [message] };
  const [start, args, end] = call("d", "pay", '{"amount":1}');
  const streamed = [start, { ...args, metadata: { a: 1 } }, end] as object[];
  expect(await through([HOLDS], [list])).toContain('"encryptedValue":"e"');
  expect(await through([HOLDS], streamed)).toContain('"metadata":{"a":1}');
});

test("a word in two pieces is one word in the arguments of a held call", async () => {
  const events = [
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"amount":1,"to":"sec' },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: 'ret"}' },
    { type: "TOOL_CALL_END", toolCallId: "c" },
  ];
  expect(await through([HOLDS, WORD], events)).not.toContain("pay");
});

test("a call in thousands of pieces is read a few times, not thousands of times", async () => {
  const pieces = 5_000;
  const events = [
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"amount":1,"list":[0' },
    ...Array.from({ length: pieces }, () => ({
      type: "TOOL_CALL_ARGS",
      toolCallId: "c",
      delta: ",1",
    })),
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "]}" },
    { type: "TOOL_CALL_END", toolCallId: "c" },
  ];
  const gateway = createInProcess(policyOf([HOLDS]));
  const { delivered } = await gateway.run(INPUT, frames(inRun(IDS, events)));
  await gateway.close();
  expect(delivered).toHaveLength(events.length + 2);
});
