import type { AgUiEvent, Message, MessagesSnapshotEvent } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ClientState } from "./client-state.js";
import { classifyEvent } from "./event.js";
import { compileRefinements } from "./refinement.js";

const BY_PARTS = compileRefinements(undefined, undefined, "parts");
const OPEN = compileRefinements(undefined, undefined, "open");
const list = (messages: readonly Message[]): MessagesSnapshotEvent => ({
  type: "MESSAGES_SNAPSHOT",
  messages: [...messages],
});
const user = (id: string, content: string): Message => ({ id, role: "user", content });
const said = (id: string, content: string): Message => ({ id, role: "assistant", content });
const calls = (id: string, callId: string, args: string): Message => ({
  id,
  role: "assistant",
  toolCalls: [{ id: callId, type: "function", function: { name: "look", arguments: args } }],
});
const answer = (id: string, toolCallId: string, content: string): Message => ({
  id,
  role: "tool",
  toolCallId,
  content,
});

const SENT = [user("u1", "hi"), said("a1", "hello"), user("u2", "and?")];
const STREAMED: AgUiEvent[] = [
  { type: "TEXT_MESSAGE_START", messageId: "a2" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a2", delta: "let me " },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a2", delta: "look" },
  { type: "TEXT_MESSAGE_END", messageId: "a2" },
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "look", parentMessageId: "p1" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"a": ' },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "1}" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
  { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c1", content: "found" },
  { type: "TEXT_MESSAGE_START", messageId: "a3" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "a3", delta: "done" },
  { type: "TEXT_MESSAGE_END", messageId: "a3" },
];
const HELD = [
  ...SENT,
  said("a2", "let me look"),
  calls("p1", "c1", '{"a":1}'),
  answer("r1", "c1", "found"),
  said("a3", "done"),
];

function classOf(messages: readonly Message[], refinements = BY_PARTS): string {
  const client = new ClientState({}, SENT, { sent: SENT });
  for (const event of STREAMED) client.see(event);
  return classifyEvent(list(messages), { refinements, client }).classification;
}

test.each<[string, Message[]]>([
  ["as it is", HELD],
  ["with a new message at the end", [...HELD, said("a4", "more"), calls("p2", "c2", "{}")]],
  ["with a text that goes on", HELD.with(6, said("a3", "done, and well"))],
  ["under another id for what was streamed", HELD.with(3, said("run-7", "let me look"))],
  ["with the result under another id", HELD.with(5, answer("other", "c1", "found"))],
  [
    "with the call inside the text that announced it",
    [
      ...HELD.slice(0, 3),
      { ...calls("a2", "c1", '{"a":1}'), content: "let me look" } as Message,
      ...HELD.slice(5),
    ],
  ],
  ["with an answer of its own in the midst of this run", HELD.toSpliced(4, 0, said("n", "hm"))],
  [
    "with a prompt in front, which has a rule of its own",
    [{ id: "s", role: "system", content: "be nice" }, ...HELD],
  ],
  ["without what the person said, which is put back", HELD.toSpliced(0, 1)],
])("a list that repeats the conversation is display: %s", (_, messages) => {
  expect(classOf(messages)).toBe("display");
  expect(classOf(messages, compileRefinements(undefined))).toBe("mutate");
});

test.each<[string, Message[]]>([
  ["an earlier text is gone", HELD.toSpliced(1, 1)],
  ["a text of this run is gone", HELD.toSpliced(6, 1)],
  ["a call is gone", HELD.toSpliced(4, 1)],
  ["a result is gone", HELD.toSpliced(5, 1)],
  ["an earlier text is another", HELD.with(1, said("a1", "hell"))],
  ["a text of this run is another", HELD.with(6, said("a3", "not done"))],
  [
    "a text is only in the id of another role",
    HELD.with(6, { id: "a3", role: "reasoning", content: "done" }),
  ],
  ["arguments are others", HELD.with(4, calls("p1", "c1", '{"a":2}'))],
  ["a result is another", HELD.with(5, answer("r1", "c1", "nothing"))],
  ["something new stands in the past", HELD.toSpliced(1, 0, said("n", "you agreed"))],
  ["something new stands in front", [said("n", "you agreed"), ...HELD]],
  ["an answer moved before its question", [SENT[1], SENT[0], ...HELD.slice(2)] as Message[]],
  ["an answer of this run moved into the past", [HELD[6], ...HELD.slice(0, 6)] as Message[]],
  ["an id stands twice", [...HELD, said("a3", "done")]],
  ["a call stands twice", [...HELD, calls("p9", "c1", '{"a":2}')]],
  ["nothing is left", []],
])("a list that changes the conversation is mutate: %s", (_, messages) => {
  expect(classOf(messages)).toBe("mutate");
  expect(classOf(messages, OPEN)).toBe("display");
});

test("taking away, changing or moving any message of the agent is mutate, whatever is added", () => {
  const own = HELD.flatMap((message, index) => (message.role === "user" ? [] : [index]));
  const added = fc
    .array(fc.string({ minLength: 1 }), { maxLength: 3 })
    .map((texts) => texts.map((text, index) => said(`new${index}`, `${text} `)));
  fc.assert(
    fc.property(fc.constantFrom(...own), added, fc.boolean(), (index, more, isGone) => {
      const message = HELD[index] as Message;
      const changed: Message =
        message.role === "assistant" && message.toolCalls !== undefined
          ? calls(message.id, "c1", '{"b":1}')
          : ({ ...message, content: `not ${String(message.content)}` } as Message);
      const rest = isGone ? HELD.toSpliced(index, 1) : HELD.with(index, changed);
      expect(classOf([...rest, ...more])).toBe("mutate");
      expect(classOf([...HELD, ...more])).toBe("display");
    }),
  );
});

test("where nothing is known of the client's messages, every list may change them", () => {
  const client = new ClientState({}, SENT);
  expect(classifyEvent(list(HELD), { refinements: BY_PARTS, client }).classification).toBe(
    "mutate",
  );
  expect(classifyEvent(list(HELD), { refinements: BY_PARTS }).classification).toBe("mutate");
});
