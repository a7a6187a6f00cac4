import type { JsonObject } from "@countersign/core";
import type { DeviationId } from "../dialects/profiles/profiles.js";
import type { RunAgentInput } from "../model/input.js";

/** The request that the streams below answer: its history has the call `c1`. */
export const INPUT: RunAgentInput = {
  threadId: "t",
  runId: "r",
  messages: [
    { id: "u1", role: "user", content: "weather in Rome?" },
    {
      id: "a1",
      role: "assistant",
      toolCalls: [
        {
          id: "c1",
          type: "function",
          function: { name: "get_weather", arguments: '{"city":"Rome"}' },
        },
      ],
    },
  ],
};

const START = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISH = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const TEXT = [
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "sunny" },
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
];

function call(id: string, text: string): JsonObject[] {
  return [
    { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "get_weather" },
    { type: "TOOL_CALL_ARGS", toolCallId: id, delta: text.slice(0, 4) },
    { type: "TOOL_CALL_ARGS", toolCallId: id, delta: text.slice(4) },
    { type: "TOOL_CALL_END", toolCallId: id },
  ];
}

function callBy(parentMessageId: string): JsonObject[] {
  const [start, ...rest] = call("c2", ROME);
  return [{ ...start, parentMessageId }, ...rest];
}

function result(id: string): JsonObject {
  return { type: "TOOL_CALL_RESULT", messageId: `${id}-result`, toolCallId: id, content: "sunny" };
}

/** Reasoning inside a step, and the encrypted value of the reasoning. */
function reasoning(entityId: string): JsonObject[] {
  const encryptedValue = "c2VhbGVk";
  return [
    { type: "REASONING_START", messageId: "th1" },
    { type: "REASONING_MESSAGE_START", messageId: "th1", role: "reasoning" },
    { type: "STEP_STARTED", stepName: "step-1" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "th1", delta: "Rome is warm" },
    { type: "REASONING_MESSAGE_END", messageId: "th1" },
    { type: "REASONING_END", messageId: "th1" },
    { type: "STEP_FINISHED", stepName: "step-1" },
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId, encryptedValue },
  ];
}

const ERROR = { type: "RUN_ERROR", message: "the model is away" };
const ROME = '{"city":"Rome"}';
/** LangChain hands a tool its arguments as text under `input`. */
const WRAPPED = JSON.stringify({ input: ROME });
const EARLY = { ...FINISH, metadata: { tanstack: { finishReason: "tool_calls" } } };

/** For each deviation a stream as the framework sends it, and the stream that comes out. */
export const DEVIANT: Readonly<
  Record<DeviationId, { stream: JsonObject[]; repaired: JsonObject[] }>
> = {
  "finish-run-id": {
    stream: [START, ...TEXT, { ...FINISH, runId: "019cd777-880c-7152" }],
    repaired: [START, ...TEXT, FINISH],
  },
  "thread-is-run": {
    stream: [
      { ...START, threadId: "r" },
      { ...FINISH, threadId: "r", result: { ok: true } },
    ],
    repaired: [START, { ...FINISH, result: { ok: true } }],
  },
  "repeated-start": {
    stream: [START, ...TEXT, START, ...call("c2", ROME), FINISH],
    repaired: [START, ...TEXT, ...call("c2", ROME), FINISH],
  },
  "repeated-call": {
    stream: [START, ...call("c1", WRAPPED), result("c1"), ...TEXT, FINISH],
    repaired: [START, result("c1"), ...TEXT, FINISH],
  },
  "finish-after-error": {
    stream: [START, ...TEXT, ERROR, FINISH],
    repaired: [START, ...TEXT, ERROR],
  },
  "early-finish": {
    stream: [START, ...call("c2", ROME), EARLY, result("c2"), ...TEXT, FINISH],
    repaired: [START, ...call("c2", ROME), result("c2"), ...TEXT, FINISH],
  },
  "result-before-start": {
    stream: [result("c1"), START, ...TEXT, FINISH],
    repaired: [START, result("c1"), ...TEXT, FINISH],
  },
  "result-message-id": {
    stream: [START, ...callBy("a2"), { ...result("c2"), messageId: "a2" }, ...TEXT, FINISH],
    repaired: [START, ...callBy("a2"), result("c2"), ...TEXT, FINISH],
  },
  "encrypted-value-of-step": {
    stream: [START, ...reasoning("step-1"), ...TEXT, FINISH],
    repaired: [START, ...reasoning("th1"), ...TEXT, FINISH],
  },
  "result-without-call": {
    stream: [START, result("c9"), ...TEXT, FINISH],
    repaired: [START, result("c9"), ...TEXT, FINISH],
  },
};
