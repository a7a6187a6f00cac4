import type { AgUiEvent, Message } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import * as fc from "fast-check";
import { expect, test } from "vitest";

type Conversation = { readonly messages: Message[]; apply(event: AgUiEvent): void };

const address = new URL("../../assets/demo/conversation.js", import.meta.url).href;
const { createConversation } = (await import(address)) as {
  createConversation(): Conversation;
};

const id = fc.constantFrom("a", "b", "c");
const text = fc.constantFrom("", "x", "yz");
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ id, role: fc.constant("user" as const), content: text }),
  fc.record({ id, role: fc.constant("tool" as const), toolCallId: id, content: text }),
  id.map((owner) => ({
    id: owner,
    role: "assistant" as const,
    toolCalls: [{ id: owner, type: "function" as const, function: { name: "t", arguments: "{}" } }],
  })),
);
const event: fc.Arbitrary<AgUiEvent> = fc.oneof(
  id.map((messageId) => ({
    type: "TEXT_MESSAGE_START" as const,
    messageId,
    role: "assistant" as const,
  })),
  fc.record({ type: fc.constant("TEXT_MESSAGE_CONTENT" as const), messageId: id, delta: text }),
  fc.record(
    {
      type: fc.constant("TOOL_CALL_START" as const),
      toolCallId: id,
      toolCallName: fc.constant("t"),
      parentMessageId: id,
    },
    { requiredKeys: ["type", "toolCallId", "toolCallName"] },
  ),
  fc.record({ type: fc.constant("TOOL_CALL_ARGS" as const), toolCallId: id, delta: text }),
  fc.record({
    type: fc.constant("TOOL_CALL_RESULT" as const),
    messageId: fc.constantFrom("r1", "r2", "r3"),
    toolCallId: id,
    content: text,
  }),
  fc.record({
    type: fc.constant("MESSAGES_SNAPSHOT" as const),
    messages: fc.uniqueArray(message, { selector: (made) => made.id, maxLength: 3 }),
  }),
);

test("the page keeps the history that a client of AG-UI keeps", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 16 }), (events) => {
      const conversation = createConversation();
      const reducer = createReducer();
      for (const one of events) {
        conversation.apply(one);
        reducer.push(one);
      }
      expect(conversation.messages).toEqual(reducer.snapshot().messages);
    }),
    { numRuns: 300 },
  );
});
