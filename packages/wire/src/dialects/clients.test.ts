import { HttpAgent } from "@ag-ui/client";
import {
  EventSchemas as EventSchemas55,
  HttpAgent as HttpAgent55,
  RunAgentInputSchema as InputSchema55,
} from "ag-ui-client-0.0.55";
import {
  EventSchemas as EventSchemas59,
  HttpAgent as HttpAgent59,
  RunAgentInputSchema as InputSchema59,
} from "ag-ui-client-0.0.59";
import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { AgUiEvent } from "../model/event.js";
import { arbitraryEvent, arbitraryInput } from "../testing/arbitraries.js";
import { generateStream } from "../testing/streams.js";
import { createDowngrader, createUpgrader, downgradeInput } from "./index.js";
import type { LegacyTarget, UpgradeOptions } from "./index.js";

// The real clients, from their HTTP transport to their message list, are the oracle here.
type Read = { messages: JsonObject[] } | { failed: string };
type AgentClass = new (config: {
  url: string;
  fetch: () => Promise<Response>;
  threadId: string;
}) => { messages: unknown; runAgent(parameters: { runId: string }): Promise<unknown> };

const CLIENTS = {
  "1.0": HttpAgent as unknown as AgentClass,
  "0.0.55": HttpAgent55 as unknown as AgentClass,
  "0.0.59": HttpAgent59 as unknown as AgentClass,
};

async function readWith(
  client: keyof typeof CLIENTS,
  events: readonly (JsonObject | AgUiEvent)[],
): Promise<Read> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const agent = new CLIENTS[client]({
    url: "http://agent.test/",
    threadId: "t1",
    fetch: () =>
      Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })),
  });
  try {
    await agent.runAgent({ runId: "run1" });
    return { messages: agent.messages as JsonObject[] };
  } catch (error) {
    return { failed: String(error) };
  }
}

function downgrade(target: LegacyTarget, events: readonly AgUiEvent[]): JsonObject[] {
  const downgrader = createDowngrader(target);
  return [...events.map((event) => downgrader.push(event)), downgrader.end()].flatMap(
    (result) => result.events,
  );
}

function upgrade(events: readonly JsonObject[], options: Partial<UpgradeOptions> = {}) {
  let count = 0;
  const upgrader = createUpgrader({
    dialect: "auto",
    mintId: (kind) => `${kind}-${(count += 1)}`,
    ...options,
  });
  return events.flatMap((event) => upgrader.push(event).events);
}

// The clients report each tolerated oddity to the console.
beforeAll(() => {
  vi.spyOn(console, "warn").mockReturnValue(undefined);
  vi.spyOn(console, "error").mockReturnValue(undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

test("the real 0.0.55 and 0.0.59 clients read every downgraded stream that the 1.0.0 client reads", async () => {
  let legal = 0;
  let fatalAsIs = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const { events } = generateStream(seed);
    if ("failed" in (await readWith("1.0", events))) continue;
    legal += 1;
    if ("failed" in (await readWith("0.0.59", events))) fatalAsIs += 1;
    for (const target of ["0.0.55", "0.0.59"] as const) {
      const older = await readWith(target, downgrade(target, events));
      expect(older, `seed ${seed} for ${target}`).not.toHaveProperty("failed");
    }
  }
  expect(legal).toBeGreaterThan(45);
  expect(fatalAsIs).toBeGreaterThan(10);
}, 120_000);

test.each([
  ["0.0.55", EventSchemas55],
  ["0.0.59", EventSchemas59],
] as const)(
  "the validators of %s accept every downgraded event of every shape",
  (target, schemas) => {
    // A chunk without its opener is refused by expansion, whose own tests cover it.
    const events = arbitraryEvent().filter(({ type }) => !type.endsWith("_CHUNK"));
    fc.assert(
      fc.property(events, (event) => {
        for (const written of downgrade(target, [event])) {
          expect(schemas.safeParse(written).error).toBeUndefined();
        }
      }),
      { numRuns: 1500 },
    );
  },
);

test.each([
  ["0.0.55", InputSchema55],
  ["0.0.59", InputSchema59],
] as const)("the input schema of %s knows every member of a downgraded input", (target, schema) => {
  fc.assert(
    fc.property(arbitraryInput(), (input) => {
      const { body } = downgradeInput(input, target);
      // The schema removes what it does not know, so an equal result means that nothing was unknown.
      expect(schema.parse(body)).toEqual(body);
    }),
    { numRuns: 500 },
  );
});

test.each(["0.0.55", "0.0.59"] as const)(
  "the real %s client ends with the text that the 1.0.0 client ends with",
  async (target) => {
    const events: AgUiEvent[] = [
      { type: "RUN_STARTED", threadId: "t1", runId: "run1", protocolVersion: "1.0" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "helper" },
      // Two lanes of chunks: without expansion an older client adds both to one message.
      { type: "TEXT_MESSAGE_CHUNK", messageId: "a", delta: "parent ", metadata: { k: 1 } },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "b", delta: "child ", subagentRunId: "s1" },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "a", delta: "again" },
      { type: "TEXT_MESSAGE_CHUNK", delta: "again", subagentRunId: "s1" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "s1" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n", parentMessageId: "a" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      {
        type: "TOOL_CALL_RESULT",
        messageId: "r",
        toolCallId: "c",
        content: [
          { type: "text", text: "x" },
          { type: "image", source: { type: "file", value: "f" } },
          { type: "text", text: "y" },
        ],
      },
      {
        type: "RUN_FINISHED",
        threadId: "t1",
        runId: "run1",
        outcome: { type: "success", pendingToolCallIds: [] },
      },
    ];
    const older = await readWith(target, downgrade(target, events));
    expect(older).toMatchObject({
      messages: expect.arrayContaining([
        expect.objectContaining({ id: "a", content: "parent again" }),
        expect.objectContaining({ id: "b", content: "child again" }),
        expect.objectContaining({ id: "r", toolCallId: "c", content: "xy" }),
      ]),
    });
    expect(await readWith(target, events)).toHaveProperty("failed");
  },
);

test("a stream of 0.0 events, with every quirk at once, is read by the 1.0.0 client", async () => {
  const events: JsonObject[] = [
    {
      type: "RUN_STARTED",
      thread_id: "t1",
      run_id: "run1",
      timestamp: 1_700_000_000.5,
      raw_event: null,
    },
    { type: "THINKING_START", title: "plan" },
    { type: "THINKING_TEXT_MESSAGE_START" },
    { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "hm" },
    { type: "THINKING_TEXT_MESSAGE_END" },
    { type: "THINKING_END" },
    { type: "TEXT_MESSAGE_START", message_id: "m", role: "assistant", name: null },
    {
      type: "TEXT_MESSAGE_CONTENT",
      message_id: "m",
      delta: "hi",
      timestamp: "2026-01-01T00:00:00Z",
    },
    { type: "TEXT_MESSAGE_END", message_id: "m" },
    { type: "TOOL_CALL_START", tool_call_id: "c", tool_call_name: "n", parent_message_id: null },
    { type: "TOOL_CALL_END", tool_call_id: "c" },
    { type: "TOOL_CALL_RESULT", message_id: "r", tool_call_id: "c", content: { ok: true } },
    { type: "RUN_FINISHED", thread_id: "t1", run_id: "run1", result: null, outcome: null },
  ];
  expect(await readWith("1.0", events)).toHaveProperty("failed");
  expect(await readWith("1.0", upgrade(events))).toMatchObject({
    messages: [
      { role: "reasoning", content: "hm" },
      { id: "m", content: "hi" },
      { role: "assistant", toolCalls: [{ id: "c" }] },
      { id: "r", role: "tool", content: '{"ok":true}' },
    ],
  });
});

test("a 0.1.0 stream is read by the 1.0.0 client", async () => {
  const events: JsonObject[] = [
    { type: "RUN_STARTED", runId: "run_12345", agentId: "agent_crm", timestamp: 1_700_000_000 },
    { type: "TEXT_MESSAGE_CHUNK", delta: "Hello " },
    { type: "TEXT_MESSAGE_CHUNK", delta: "you" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolName: "search", args: { query: "Alice" } },
    { type: "TOOL_CALL_RESULT", toolCallId: "c", result: { email: "a@e.test" }, isError: false },
    { type: "UI_RENDER_HINT", component: "StockChart", props: { symbol: "AAPL" } },
    { type: "TEXT_MESSAGE_CHUNK", delta: "done", messageId: "last" },
    { type: "RUN_FINISHED", runId: "run_12345", status: "success", usage: { input_tokens: 5 } },
  ];
  expect(await readWith("1.0", upgrade(events, { threadId: "t1", runId: "run1" }))).toMatchObject({
    messages: [
      { role: "assistant", content: "Hello you" },
      {
        role: "assistant",
        toolCalls: [{ function: { name: "search", arguments: '{"query":"Alice"}' } }],
      },
      { role: "tool", toolCallId: "c", content: '{"email":"a@e.test"}' },
      { id: "last", content: "done" },
    ],
  });
});

test("an envelope stream is read by the 1.0.0 client, and no end is invented for it", async () => {
  const base = {
    timestamp: 1_744_993_921,
    agent_id: "agent-support",
    session_id: "sess_01",
    classification: "display",
  };
  const events = upgrade([
    { ...base, event_id: "e1", event_type: "text_stream", payload: { text: "hi" } },
    { ...base, event_id: "e2", event_type: "notification", payload: { title: "x" } },
  ]);
  expect(events.map(({ type }) => type)).not.toContain("RUN_FINISHED");
  expect(await readWith("1.0", events)).toMatchObject({ messages: [{ id: "e1", content: "hi" }] });
});
