import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { expect, test } from "vitest";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";
import { inRun } from "../../testing/events.js";
import { post } from "../../testing/transports.js";
import { assertEventIdentifiers, assertInputIdentifiers } from "./identifiers.js";

const IDS = { threadId: "t", runId: "r" };
const LIMIT = 32;
const tooLong = expect.objectContaining({ code: "ERR_ID_TOO_LONG" });

const EVENTS: Record<string, (id: string) => object> = {
  runId: (id) => ({ type: "RUN_STARTED", threadId: "t", runId: id }),
  "an input's thread": (id) => ({
    type: "RUN_STARTED",
    ...IDS,
    input: { threadId: id, runId: "r", messages: [] },
  }),
  messageId: (id) => ({ type: "TEXT_MESSAGE_END", messageId: id }),
  toolCallName: (id) => ({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: id }),
  "a chunk's call": (id) => ({ type: "TOOL_CALL_CHUNK", toolCallId: id }),
  activityType: (id) => ({
    type: "ACTIVITY_SNAPSHOT",
    messageId: "a",
    activityType: id,
    content: {},
  }),
  "a custom name": (id) => ({ type: "CUSTOM", name: id, value: 1 }),
  "a hint's component": (id) => ({
    type: "CUSTOM",
    name: "countersign.ui_render_hint",
    value: { component: id },
  }),
  "a raw source": (id) => ({ type: "RAW", event: {}, source: id }),
  stepName: (id) => ({ type: "STEP_STARTED", stepName: id }),
  subagentRunId: (id) => ({ type: "CUSTOM", name: "n", value: 1, subagentRunId: id }),
  "a message's id": (id) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: [{ id, role: "user", content: "x" }],
  }),
  "a tool's name in a message": (id) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: [
      {
        id: "m",
        role: "assistant",
        toolCalls: [{ id: "c", type: "function", function: { name: id, arguments: "" } }],
      },
    ],
  }),
  "an interrupt's reason": (id) => ({
    type: "RUN_FINISHED",
    ...IDS,
    outcome: { type: "interrupt", interrupts: [{ id: "i", reason: id }] },
  }),
};

test.each(Object.entries(EVENTS))(
  "%s passes at the limit and is refused one over",
  (_name, event) => {
    const check = (length: number): void =>
      assertEventIdentifiers(event("x".repeat(length)) as AgUiEvent, LIMIT);
    expect(() => check(LIMIT)).not.toThrow();
    expect(() => check(LIMIT + 1)).toThrow(tooLong);
  },
);

test("an id is measured in UTF-8 bytes, as databases do", () => {
  const check = (id: string): void =>
    assertEventIdentifiers({ type: "TEXT_MESSAGE_END", messageId: id }, LIMIT);
  expect(() => check("é".repeat(LIMIT / 2))).not.toThrow();
  expect(() => check(`${"é".repeat(LIMIT / 2)}x`)).toThrow(tooLong);
});

test("the ids and names of an input pass at the limit and are refused one over", () => {
  const shapes: ((id: string) => object)[] = [
    (id) => ({ threadId: id }),
    (id) => ({ runId: id }),
    (id) => ({ messages: [{ id, role: "user", content: "x" }] }),
    (id) => ({ tools: [{ name: id, description: "" }] }),
    (id) => ({ resume: [{ interruptId: id, status: "cancelled" }] }),
  ];
  for (const shape of shapes) {
    const check = (length: number): void =>
      assertInputIdentifiers(
        { ...IDS, messages: [], ...shape("x".repeat(length)) } as RunAgentInput,
        LIMIT,
      );
    expect(() => check(LIMIT)).not.toThrow();
    expect(() => check(LIMIT + 1)).toThrow(tooLong);
  }
});

test("a stream with an oversized name ends its run with an error, with a receipt for the refusal", async () => {
  const gateway = createInProcess(OPEN_POLICY);
  const { delivered } = await gateway.run(
    { ...IDS, messages: [] },
    frames(inRun(IDS, [{ type: "CUSTOM", name: "n".repeat(70_000), value: 1 }])),
  );
  await gateway.close();
  expect(delivered.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  expect(delivered[1]).toMatchObject({ code: "GATEWAY_LIMIT" });
  expect(gateway.recorder.drafts.at(-1)?.receipt).toMatchObject({
    allowed: false,
    denial_reason: "invalid event: ERR_ID_TOO_LONG",
  });
});

test("an input with an oversized id gets a 400 before the gateway calls the agent", async () => {
  const fixture = await startFixture(() => ({ pieces: [] }));
  const response = await post(`${fixture.url}/ag-ui/run`, {
    threadId: "t",
    runId: "r".repeat(70_000),
    messages: [],
  });
  const problem = (await response.json()) as object;
  const asked = fixture.agentRequests.length;
  await fixture.stop();
  expect(response.status).toBe(400);
  expect(problem).toMatchObject({ code: "ERR_ID_TOO_LONG" });
  expect(asked).toBe(0);
});
