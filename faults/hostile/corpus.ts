import { OPEN_POLICY } from "../harness/gateway.js";

/** What real agents send, one of everything; `poison` is what the policy of these tests never lets through. */
export function realEvents(ids: { threadId: string; runId: string }, at: string): Event[] {
  const call = `c-${at}`;
  return [
    { type: "RUN_STARTED", ...ids },
    { type: "STEP_STARTED", stepName: "think" },
    { type: "TEXT_MESSAGE_START", messageId: `m-${at}`, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: `m-${at}`, delta: 'Grüße 👋 "quoted" \\ / \n' },
    { type: "TEXT_MESSAGE_END", messageId: `m-${at}`, timestamp: 1_760_000_000_000 },
    { type: "STEP_FINISHED", stepName: "think" },
    {
      type: "TOOL_CALL_START",
      toolCallId: call,
      toolCallName: "lookup",
      parentMessageId: `m-${at}`,
    },
    { type: "TOOL_CALL_ARGS", toolCallId: call, delta: '{"order":1024,' },
    { type: "TOOL_CALL_ARGS", toolCallId: call, delta: '"deep":{"a":[1,2,{"b":null}]}}' },
    { type: "TOOL_CALL_END", toolCallId: call },
    {
      type: "TOOL_CALL_RESULT",
      messageId: `r-${at}`,
      toolCallId: call,
      content: "found",
      role: "tool",
    },
    { type: "STATE_SNAPSHOT", snapshot: { cart: [{ id: 1, price: 9.5 }], user: { name: "Ada" } } },
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/user/name", value: "Grace" }] },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: `m-${at}`, role: "assistant", content: "Grüße" }],
    },
    { type: "REASONING_START", messageId: `q-${at}` },
    { type: "REASONING_MESSAGE_START", messageId: `q-${at}`, role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: `q-${at}`, delta: "hm" },
    { type: "REASONING_MESSAGE_END", messageId: `q-${at}` },
    { type: "REASONING_END", messageId: `q-${at}` },
    { type: "CUSTOM", name: "progress", value: { percent: 50, tags: ["a", "b"] } },
    { type: "RUN_FINISHED", ...ids },
  ];
}

/** An event on the wire. */
export type Event = { readonly type: string; readonly [field: string]: unknown };

/** The word that must never come out on the other side. */
export const POISON = "P01S0N";

/** A call of a tool that the policy does not list, and its second coming in a message list. */
export function poisonedEvents(at: string): Event[] {
  const toolCallId = `p-${at}`;
  const called = { name: "wipe_disk", arguments: `{"why":"${POISON}"}` };
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: "wipe_disk" },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: `{"why":"${POISON}"}` },
    { type: "TOOL_CALL_END", toolCallId },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        {
          id: `s-${at}`,
          role: "assistant",
          toolCalls: [{ id: toolCallId, type: "function", function: called }],
        },
      ],
    },
  ];
}

/** What real clients ask, one of everything. */
export function realInput(ids: { threadId: string; runId: string }): Record<string, unknown> {
  return {
    ...ids,
    protocolVersion: "1.0",
    messages: [{ id: `u-${ids.runId}`, role: "user", content: "Where is order 1024? 👋" }],
    tools: [
      {
        name: "lookup",
        description: "Looks an order up",
        parameters: { type: "object", properties: { order: { type: "integer" } } },
      },
    ],
    context: [{ description: "page", value: "/orders" }],
    state: { cart: [], user: { name: "Ada" } },
    forwardedProps: { theme: "dark" },
  };
}

/** A tool that no client may declare. */
export const POISONED_TOOL = { name: "wipe_disk", description: POISON, parameters: {} };

/** Chat, one tool, nothing else. */
export const POLICY = `${OPEN_POLICY}  ag_ui_request: { forwarded_props: { allow: [theme] } }
  ag_ui_tools: { call: { allow: [lookup] }, declare: { allow: [lookup] } }
`;
