import type { JsonObject } from "@countersign/core";
import { compilePolicy, createContentReader, loadPolicy } from "@countersign/policy";
import type { ContentSettings } from "@countersign/policy";
import type { AgUiEvent, Message, RunAgentInput } from "@countersign/wire";
import * as fc from "fast-check";
import { afterAll, expect, test, vi } from "vitest";
import { createInProcess } from "../../testing/in-process.js";
import { officialResult } from "../../../../wire/src/testing/official-pipeline.js";

// The official client warns about the end of a message that a list has removed.
vi.spyOn(console, "warn").mockImplementation(() => {});
const RUNS = Number(process.env["CLIENT_TEXT_RUNS"] ?? 150);

const policyWith = (lists: string): string => `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [submit] }
  ag_ui_inbound: { default: allow }
  ag_ui_messages: { lists: ${lists} }
  ag_ui_content: { read: [text, reasoning] }
`;
const gateways = ["whole", "parts", "open"].map((lists) => createInProcess(policyWith(lists)));
afterAll(async () => {
  for (const gateway of gateways) await gateway.close();
});
const content = compilePolicy(loadPolicy(policyWith("open"))).content as ContentSettings;

const INPUT: RunAgentInput = {
  threadId: "t",
  runId: "r",
  messages: [
    { id: "u1", role: "user", content: "hi" },
    { id: "a1", role: "assistant", content: "Look: ![" },
    { id: "a2", role: "assistant", content: "```\n" },
    { id: "u2", role: "user", content: "and?" },
  ],
};

/** Pieces that are harmless one by one, some of them only as code. */
const piece = fc.constantFrom(
  "![",
  "](https://evil.example/x)",
  "![x](https://evil.example/x)",
  "```\n",
  "\n```\n",
  "<b title='",
  "'>",
  "[x](java",
  "script:alert(1))",
  "ok ",
);
const words = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(""));
const answerId = fc.constantFrom("a1", "a2", "m1", "m2");
const reasoningId = fc.constantFrom("r1", "r2");

const listed: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ id: answerId, role: fc.constant("assistant" as const), content: words }),
  fc.record({ id: reasoningId, role: fc.constant("reasoning" as const), content: words }),
  fc.constantFrom(...INPUT.messages),
  fc.record({
    id: fc.constantFrom("n1", "n2"),
    role: fc.constant("assistant" as const),
    content: fc.constantFrom("```\n", "Look: !["),
  }),
);
/** A list that repeats the request, shortened and with more after it; or any list. */
const list: fc.Arbitrary<Message[]> = fc.oneof(
  fc
    .tuple(fc.subarray([...INPUT.messages], { minLength: 2 }), fc.array(listed, { maxLength: 2 }))
    .map(([kept, more]) => [...kept, ...more]),
  fc.array(listed, { maxLength: 4 }),
);

const text = (kind: "TEXT" | "REASONING", messageId: string, delta: string): object[] => [
  { type: `${kind}_MESSAGE_START`, messageId, role: kind === "TEXT" ? "assistant" : "reasoning" },
  { type: `${kind}_MESSAGE_CONTENT`, messageId, delta },
  { type: `${kind}_MESSAGE_END`, messageId },
];
const step: fc.Arbitrary<object[]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(answerId, words).map(([id, said]) => text("TEXT", id, said)) },
  fc.tuple(reasoningId, words).map(([id, said]) => text("REASONING", id, said)),
  fc
    .tuple(answerId, words, list, words)
    .map(([messageId, before, messages, after]) => [
      ...text("TEXT", messageId, before).slice(0, 2),
      { type: "MESSAGES_SNAPSHOT", messages },
      ...text("TEXT", messageId, after).slice(1),
    ]),
  { weight: 3, arbitrary: list.map((messages) => [{ type: "MESSAGES_SNAPSHOT", messages }]) },
  fc.tuple(list, fc.uuid()).map(([messages, runId]) => [
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
    { type: "RUN_STARTED", threadId: "t", runId, input: { threadId: "t", runId, messages } },
  ]),
  fc.tuple(answerId, fc.uuid()).map(([parentMessageId, toolCallId]) => [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "look", parentMessageId },
    { type: "TOOL_CALL_END", toolCallId },
  ]),
  fc.tuple(fc.constantFrom("m1", "m2", "r1"), fc.uuid()).map(([messageId, toolCallId]) => [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "look" },
    { type: "TOOL_CALL_END", toolCallId },
    { type: "TOOL_CALL_RESULT", messageId, toolCallId, content: "found" },
  ]),
);

/** The findings of the content rules in the client's text of each message of the agent. */
function findingsIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    const { id: messageId, role } = message;
    if ((role !== "assistant" && role !== "reasoning") || message.content === undefined) return [];
    const type = role === "assistant" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    const event = { type, messageId, delta: message.content as string };
    const found = createContentReader(content).read(event as unknown as JsonObject);
    return found === null ? [] : [`${found.kind} in ${messageId}: ${JSON.stringify(event.delta)}`];
  });
}

test("in any mix of lists, echoes, calls and reopened messages, no text on the client has forbidden content", async () => {
  let reopened = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 6 }),
      fc.constantFrom(...gateways),
      async (steps, gateway) => {
        const events = [
          { type: "RUN_STARTED", threadId: "t", runId: "r" },
          ...steps.flat(),
        ] as unknown as AgUiEvent[];
        const pieces = events.map((event) => ({
          kind: "frame" as const,
          text: JSON.stringify(event),
        }));
        const { delivered, contexts } = await gateway.run(INPUT, pieces);
        for (const { decision } of contexts) {
          if (decision?.allow === false && decision.rule === "gateway/reopened") reopened += 1;
        }
        for (let end = 1; end <= delivered.length; end += 1) {
          const { messages } = await officialResult(INPUT, delivered.slice(0, end));
          expect(findingsIn(messages)).toEqual([]);
        }
      },
    ),
    { numRuns: RUNS },
  );
  expect(reopened).toBeGreaterThan(0);
});
