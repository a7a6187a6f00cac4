import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { runClient } from "../../testing/client.js";
import type { ClientOptions, ClientRun } from "../../testing/client.js";
import { call, idsOf, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const blocking = (...conditions: string[]): string =>
  `${OPEN_POLICY}  ag_ui_conditions:\n    rules:\n${conditions
    .map(
      (when, index) =>
        `      - { id: c${index}, effect: block, when: 'has(event.type) && ${when}' }`,
    )
    .join("\n")}\n`;

const noTool = (name: string): string =>
  `${OPEN_POLICY}  ag_ui_tools:\n    call: { block: [${name}], default: allow }\n`;

async function through(
  policy: string,
  events: readonly object[],
  options: ClientOptions = {},
): Promise<ClientRun & { drafts: Fixture["recorder"]["drafts"] }> {
  fixture ??= await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), script).map(sseFrame) }),
    { policy },
  );
  script = events;
  const seen = await runClient(`${fixture.url}/agents/support`, options);
  expect(seen.error).toBeUndefined();
  return { ...seen, drafts: fixture.recorder.drafts };
}
let script: readonly object[] = [];

const SECRET = "s3cret";
const holds = (run: ClientRun): boolean =>
  JSON.stringify([run.events, run.messages]).includes(SECRET);
const finished = (run: ClientRun): boolean => run.types.at(-1) === "RUN_FINISHED";

test("a text message that is blocked at its start is withheld to its end", async () => {
  const run = await through(
    blocking('event.type == "TEXT_MESSAGE_START" && event.messageId == "x"'),
    [...text("x", SECRET), ...text("m", "fine")],
  );
  expect(holds(run)).toBe(false);
  expect(run.messages.map(({ id }) => id)).toEqual(["u1", "m"]);
  expect(run.drafts.filter(({ receipt }) => !receipt.allowed)).toHaveLength(3);
  expect(finished(run)).toBe(true);
});

test("a text message that is blocked in its middle is cut, closed for the client, and missing from a snapshot", async () => {
  const run = await through(
    blocking(`event.type == "TEXT_MESSAGE_CONTENT" && event.delta.contains("${SECRET}")`),
    [
      { type: "TEXT_MESSAGE_START", messageId: "x" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "x", delta: "before " },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "x", delta: SECRET },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "x", delta: " after" },
      { type: "TEXT_MESSAGE_END", messageId: "x", metadata: { note: SECRET } },
      { type: "MESSAGES_SNAPSHOT", messages: [{ id: "x", role: "assistant", content: SECRET }] },
    ],
  );
  expect(holds(run)).toBe(false);
  expect(run.types).toContain("TEXT_MESSAGE_END");
  expect(JSON.stringify(run.events)).not.toContain("after");
  expect(run.messages.some(({ id }) => id === "x")).toBe(false);
});

test("reasoning, activities, steps and subagents are withheld to their ends", async () => {
  const run = await through(
    blocking(
      'event.type == "REASONING_MESSAGE_START"',
      'event.type == "ACTIVITY_SNAPSHOT" && event.activityType == "form"',
      'event.type == "STEP_STARTED" && event.stepName == "plan"',
      'event.type == "SUBAGENT_STARTED" && event.name == "spy"',
    ),
    [
      { type: "REASONING_START", messageId: "r" },
      { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: SECRET },
      { type: "REASONING_MESSAGE_END", messageId: "r" },
      { type: "REASONING_END", messageId: "r" },
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: "r",
        encryptedValue: SECRET,
      },
      {
        type: "ACTIVITY_SNAPSHOT",
        messageId: "a",
        activityType: "form",
        content: { html: SECRET },
      },
      {
        type: "ACTIVITY_DELTA",
        messageId: "a",
        activityType: "form",
        patch: [{ op: "add", path: "/x", value: SECRET }],
      },
      { type: "STEP_STARTED", stepName: "plan", metadata: { x: SECRET } },
      { type: "STEP_FINISHED", stepName: "plan", metadata: { x: SECRET } },
      { type: "STEP_STARTED", stepName: "act" },
      { type: "STEP_FINISHED", stepName: "act" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "spy" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s2", name: "child", parentSubagentRunId: "s" },
      { type: "TEXT_MESSAGE_START", messageId: "t", subagentRunId: "s2" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: SECRET },
      { type: "TEXT_MESSAGE_END", messageId: "t" },
      { type: "STATE_SNAPSHOT", snapshot: { x: SECRET }, subagentRunId: "s" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "s2", result: SECRET },
      { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
      ...text("m", "fine"),
    ],
  );
  expect(holds(run)).toBe(false);
  expect(run.types).toEqual([
    "RUN_STARTED",
    "REASONING_START",
    "REASONING_END",
    "STEP_STARTED",
    "STEP_FINISHED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

test("a withheld tool call stays withheld in a snapshot, an echoed input, a second result, raw events and an encrypted value", async () => {
  const message = {
    id: "a1",
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "c", type: "function", function: { name: "danger", arguments: `{"x":"${SECRET}"}` } },
    ],
  };
  const events = [
    {
      type: "RUN_STARTED",
      threadId: "thread-1",
      runId: "echo",
      input: { threadId: "thread-1", runId: "echo", messages: [message] },
    },
    { type: "RUN_FINISHED", threadId: "thread-1", runId: "echo" },
  ];
  const run = await through(
    noTool("danger"),
    [
      ...call("c", "danger", `{"x":"${SECRET}"}`),
      { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c", content: SECRET },
      { type: "TOOL_CALL_RESULT", messageId: "r2", toolCallId: "c", content: SECRET },
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "tool-call",
        entityId: "c",
        encryptedValue: SECRET,
      },
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [message, { id: "r3", role: "tool", toolCallId: "c", content: SECRET }],
      },
      { type: "RAW", event: { tool: SECRET }, source: "framework" },
      { type: "CUSTOM", name: "vendor.ok", value: 1, rawEvent: { tool: SECRET } },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "danger" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: SECRET },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      ...text("m", "fine"),
      { type: "RUN_FINISHED", threadId: "thread-1", runId: "withheld" },
      ...events.slice(0, 1),
      ...text("m2", "fine"),
      { type: "RUN_FINISHED", threadId: "thread-1", runId: "echo" },
      { type: "RUN_STARTED", threadId: "thread-1", runId: "last" },
    ].map((event) => event),
    { runId: "withheld" },
  );
  expect(holds(run)).toBe(false);
  expect(run.types).toContain("CUSTOM");
  expect(run.types).not.toContain("RAW");
  expect(run.types.some((type) => type.startsWith("TOOL_CALL"))).toBe(false);
});

test("a call that was withheld in one run stays withheld in a later run of the thread", async () => {
  await through(noTool("danger"), [...call("c", "danger", SECRET)]);
  const later = await through(noTool("danger"), [
    { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: SECRET },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "r", role: "tool", toolCallId: "c", content: SECRET }],
    },
  ]);
  expect(holds(later)).toBe(false);
  expect(finished(later)).toBe(true);
});

test("interrupts and pending ids of a withheld call, and pending ids of no call, are removed from the end of the run", async () => {
  const policy = noTool("danger");
  fixture = await startFixture(
    (request) => {
      const ids = idsOf(request.body);
      const outcome =
        ids.runId === "pending"
          ? { type: "success", pendingToolCallIds: ["c", "d", "nobody made"] }
          : {
              type: "interrupt",
              interrupts: [
                { id: "i1", reason: "tool_call", toolCallId: "c", message: SECRET },
                ...(ids.runId === "both" ? [{ id: "i2", reason: "confirmation" }] : []),
              ],
            };
      const events = [...call("c", "danger", "{}"), ...call("d", "safe", "{}")];
      return {
        pieces: [
          { type: "RUN_STARTED", ...ids },
          ...events,
          { type: "RUN_FINISHED", ...ids, outcome },
        ].map(sseFrame),
      };
    },
    { policy },
  );
  const url = `${fixture.url}/agents/support`;
  const pending = await runClient(url, { runId: "pending" });
  expect(pending.events.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: ["d"] } });
  const both = await runClient(url, { runId: "both", threadId: "t2" });
  expect(both.events.at(-1)).toMatchObject({ outcome: { interrupts: [{ id: "i2" }] } });
  const one = await runClient(url, { runId: "one", threadId: "t3" });
  expect(one.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "BLOCKED_BY_POLICY" });
  expect(holds(both) || holds(one)).toBe(false);
});

test("no link names a withheld call", async () => {
  const run = await through(
    blocking('event.type == "TEXT_MESSAGE_START" && event.messageId == "x"'),
    [
      ...text("x", SECRET),
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "safe", parentMessageId: "x" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "n", parentMessageId: "x" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
    ],
  );
  expect(run.types).toContain("TOOL_CALL_START");
  expect(run.types).toContain("SUBAGENT_STARTED");
  expect(JSON.stringify(run.events)).not.toContain('"x"');
});

const CLIENT_TOOL = { name: "ask", description: "asks", parameters: { type: "object" } };

test("a result that the agent invents for a tool of the client is blocked, streamed or in a snapshot", async () => {
  const run = await through(
    OPEN_POLICY,
    [
      ...call("c", "ask", "{}"),
      { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: SECRET },
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "u1", role: "user", content: "hello" },
          { id: "q", role: "tool", toolCallId: "c", content: SECRET },
        ],
      },
    ],
    { tools: [CLIENT_TOOL] },
  );
  expect(holds(run)).toBe(false);
  expect(run.types).toContain("TOOL_CALL_END");
  expect(run.drafts.find(({ rule }) => rule === "gateway/result")?.receipt.denial_reason).toBe(
    "only the client can answer this tool",
  );
});

test("a frontend tool that the client did not advertise is blocked if the policy requires it", async () => {
  const run = await through(
    `${OPEN_POLICY}  ag_ui_tools: { require_advertised: true }\n`,
    [...call("c", "other", SECRET), ...call("d", "ask", "{}")],
    { tools: [CLIENT_TOOL] },
  );
  expect(holds(run)).toBe(false);
  expect(run.events.filter(({ type }) => type === "TOOL_CALL_START")).toMatchObject([
    { toolCallName: "ask" },
  ]);
});

test("a call re-opened under another name is blocked, streamed or in a snapshot", async () => {
  const run = await through(OPEN_POLICY, [
    ...call("c", "safe", "{}"),
    ...call("c", "danger", SECRET),
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        {
          id: "a",
          role: "assistant",
          content: "x",
          toolCalls: [
            { id: "c", type: "function", function: { name: "danger", arguments: SECRET } },
          ],
        },
      ],
    },
  ]);
  expect(JSON.stringify([run.events, run.messages])).not.toContain("danger");
  expect(holds(run)).toBe(false);
  expect(finished(run)).toBe(true);
});

test.each(["system", "developer", "user"])(
  "text in the role of %s is blocked, streamed or in a snapshot",
  async (role) => {
    const run = await through(OPEN_POLICY, [
      ...text("x", SECRET, { role }),
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "u1", role: "user", content: "hello" },
          { id: "y", role, content: SECRET },
        ],
      },
      ...text("m", "fine"),
    ]);
    expect(holds(run)).toBe(false);
    expect(run.messages.map(({ id }) => id)).toEqual(["u1", "m"]);
    expect(run.drafts.filter(({ rule }) => rule === "gateway/role").length).toBeGreaterThan(1);
  },
);

const SCHEMA = `${OPEN_POLICY}  ag_ui_tools:
    arguments:
      pay: { type: object, properties: { amount: { type: number, maximum: 100 } }, required: [amount] }
`;

test("a call whose arguments the policy reads is not delivered before they are complete and judged", async () => {
  const good = await through(SCHEMA, [
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" },
    ...text("m", "meanwhile"),
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"amou' },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: 'nt":5}' },
    { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "early" },
    { type: "TOOL_CALL_END", toolCallId: "c" },
  ]);
  expect(good.types.slice(1, 9)).toEqual([
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_RESULT",
    "TOOL_CALL_END",
  ]);
  const bad = await through(SCHEMA, call("d", "pay", `{"amount":5000,"x":"${SECRET}"}`), {
    threadId: "another",
  });
  expect(bad.types).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  expect(bad.drafts.at(-2)?.receipt.denial_reason).toBe("tool arguments do not fit their schema");
});

test("a call that is never completed is never delivered, and leaves a receipt", async () => {
  fixture = await startFixture(
    (request) => {
      const ids = idsOf(request.body);
      const held = call("c", "pay", SECRET).slice(0, 2);
      return {
        pieces: [
          { type: "RUN_STARTED", ...ids },
          ...held,
          { type: "RUN_ERROR", message: "gave up" },
        ].map(sseFrame),
      };
    },
    { policy: SCHEMA },
  );
  const run = await runClient(`${fixture.url}/agents/support`);
  expect(run.error).toBeUndefined();
  expect(run.types).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  const held = fixture.recorder.drafts.filter(({ rule }) => rule === "gateway/held");
  expect(held.map(({ receipt }) => receipt.allowed)).toEqual([false, false]);
});

test("held events are limited: a call that grows over the limit ends the run", async () => {
  fixture = await startFixture(
    (request) => {
      const ids = idsOf(request.body);
      const more = { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "x".repeat(600) };
      return {
        pieces: inRun(ids, [
          { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" },
          more,
          more,
          { type: "TOOL_CALL_END", toolCallId: "c" },
        ]).map(sseFrame),
      };
    },
    { policy: SCHEMA, gateway: { limits: { maxHeldBytes: 1000 } } },
  );
  const run = await runClient(`${fixture.url}/agents/support`);
  expect(run.error).toBeUndefined();
  expect(run.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "GATEWAY_LIMIT" });
});
