/**
 * One recorded run with every kind of event that leaves something on a screen. The same list goes through
 * the client, both bindings and the official client, which must agree on what it adds up to.
 */
export const GOLDEN: readonly object[] = [
  { type: "RUN_STARTED", threadId: "thread", runId: "run-1", protocolVersion: "1.0" },
  { type: "STATE_SNAPSHOT", snapshot: { city: null, days: [] } },
  { type: "STEP_STARTED", stepName: "plan" },
  { type: "REASONING_START", messageId: "span" },
  { type: "REASONING_MESSAGE_START", messageId: "thought", role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "thought", delta: "Weather " },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "thought", delta: "first." },
  { type: "REASONING_MESSAGE_END", messageId: "thought" },
  { type: "REASONING_END", messageId: "span" },
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "Let me look at the weather in " },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "Zürich 🌦." },
  { type: "TEXT_MESSAGE_END", messageId: "m1", metadata: { "x.model": "small" } },
  {
    type: "TOOL_CALL_START",
    toolCallId: "c1",
    toolCallName: "weather",
    parentMessageId: "m1",
  },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"city":' },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '"Zürich"}' },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
  { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c1", content: "rain, 12 °C" },
  {
    type: "STATE_DELTA",
    delta: [
      { op: "replace", path: "/city", value: "Zürich" },
      { op: "add", path: "/days/-", value: { day: "Monday", sky: "rain" } },
    ],
  },
  { type: "STEP_FINISHED", stepName: "plan" },
  { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "progress", content: { done: 1 } },
  {
    type: "ACTIVITY_DELTA",
    messageId: "a1",
    activityType: "progress",
    patch: [{ op: "replace", path: "/done", value: 2 }],
  },
  { type: "TEXT_MESSAGE_CHUNK", messageId: "m2", role: "assistant", delta: "It rains. " },
  { type: "TEXT_MESSAGE_CHUNK", delta: "Shall I book a museum?" },
  {
    type: "CUSTOM",
    name: "countersign.ui_render_hint",
    value: { component: "Forecast", props: { city: "Zürich", sky: "rain" } },
  },
  { type: "TOOL_CALL_CHUNK", toolCallId: "c2", toolCallName: "book", delta: '{"seats":2}' },
  { type: "FUTURE_EVENT", anything: true },
  {
    type: "RUN_FINISHED",
    threadId: "thread",
    runId: "run-1",
    outcome: {
      type: "interrupt",
      interrupts: [{ id: "i1", reason: "confirmation", message: "Book it?", toolCallId: "c2" }],
    },
    usage: [{ model: "small", inputTokens: 40, outputTokens: 21 }],
  },
];

/** The expected view of the recording, written by hand. */
export const GOLDEN_END = {
  messages: [
    { id: "message-1", role: "user", content: "Plan my Monday" },
    { id: "thought", role: "reasoning", content: "Weather first." },
    {
      id: "m1",
      role: "assistant",
      content: "Let me look at the weather in Zürich 🌦.",
      metadata: { "x.model": "small" },
      toolCalls: [
        {
          id: "c1",
          type: "function",
          function: { name: "weather", arguments: '{"city":"Zürich"}' },
        },
      ],
    },
    { id: "r1", role: "tool", toolCallId: "c1", content: "rain, 12 °C" },
    { id: "a1", role: "activity", activityType: "progress", content: { done: 2 } },
    { id: "m2", role: "assistant", content: "It rains. Shall I book a museum?" },
    {
      id: "c2",
      role: "assistant",
      toolCalls: [
        { id: "c2", type: "function", function: { name: "book", arguments: '{"seats":2}' } },
      ],
    },
  ],
  state: { city: "Zürich", days: [{ day: "Monday", sky: "rain" }] },
  interrupts: [{ id: "i1", reason: "confirmation", message: "Book it?", toolCallId: "c2" }],
} as const;
