import * as fc from "fast-check";
import type {
  AgUiEvent,
  Context,
  ContentPart,
  EventOf,
  EventType,
  Interrupt,
  JsonPatchOperation,
  Message,
  PartSource,
  ResumeEntry,
  RunAgentInput,
  RunFinishedOutcome,
  SubagentFinishedOutcome,
  TextMessageRole,
  TokenUsage,
  Tool,
  ToolCall,
} from "../index.js";
import {
  arbitraryId,
  arbitraryJson,
  arbitraryJsonObject,
  arbitraryPointer,
  arbitraryPresent,
  arbitraryText,
  record,
} from "./json.js";

export { mutateJson } from "./mutate.js";
export { Random } from "./random.js";
export { mutateStream } from "./stream-mutations.js";
export { generateStream } from "./streams.js";
export type { GeneratedStream } from "./streams.js";
export { cutBytes, frameTexts } from "./wire-bytes.js";
export { mutateTexts, textsOf } from "./wire-mutations.js";

const text = arbitraryText;
const id = arbitraryId;
const metadata = arbitraryJsonObject;

const source: fc.Arbitrary<PartSource> = fc.oneof(
  record<Extract<PartSource, { type: "data" }>>(
    { type: fc.constant("data"), value: text, mimeType: text },
    {},
  ),
  record<Extract<PartSource, { type: "url" }>>(
    { type: fc.constant("url"), value: text },
    { mimeType: text },
  ),
  record<Extract<PartSource, { type: "file" }>>(
    { type: fc.constant("file"), value: text },
    { provider: text, mimeType: text },
  ),
);

type MediaKind = Exclude<ContentPart["type"], "text">;

const part: fc.Arbitrary<ContentPart> = fc.oneof(
  record<Extract<ContentPart, { type: "text" }>>(
    { type: fc.constant("text"), text },
    { id, metadata: arbitraryPresent },
  ),
  record<{ type: MediaKind; source: PartSource; id?: string; metadata?: typeof metadata }>(
    { type: fc.constantFrom<MediaKind[]>("image", "audio", "video", "document"), source },
    { id, metadata: arbitraryPresent as fc.Arbitrary<never> },
  ) as unknown as fc.Arbitrary<ContentPart>,
);

const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));

const toolCall: fc.Arbitrary<ToolCall> = record<ToolCall>(
  {
    id,
    type: fc.constant("function"),
    function: record<ToolCall["function"]>({ name: text, arguments: text }, {}),
  },
  { encryptedValue: text, metadata },
);

const owned = { metadata, subagentRunId: id };
const named = { ...owned, name: text, encryptedValue: text };
type MessageOf<Role extends Message["role"]> = Extract<Message, { role: Role }>;

/** Any message, of every role. */
export function arbitraryMessage(): fc.Arbitrary<Message> {
  return fc.oneof(
    record<MessageOf<"developer">>({ id, role: fc.constant("developer"), content: text }, named),
    record<MessageOf<"system">>({ id, role: fc.constant("system"), content: text }, named),
    record<MessageOf<"user">>({ id, role: fc.constant("user"), content }, named),
    record<MessageOf<"assistant">>(
      { id, role: fc.constant("assistant") },
      { ...named, content: text, toolCalls: fc.array(toolCall, { maxLength: 2 }) },
    ),
    record<MessageOf<"tool">>(
      { id, role: fc.constant("tool"), toolCallId: id, content },
      { ...owned, error: text, encryptedValue: text },
    ),
    record<MessageOf<"activity">>(
      { id, role: fc.constant("activity"), activityType: text, content: arbitraryJsonObject },
      owned,
    ),
    record<MessageOf<"reasoning">>(
      { id, role: fc.constant("reasoning"), content: text },
      { ...owned, encryptedValue: text },
    ),
  );
}

const messages = fc.array(arbitraryMessage(), { maxLength: 3 });

const tool: fc.Arbitrary<Tool> = record<Tool>(
  { name: text, description: text },
  { parameters: arbitraryPresent, metadata },
);
const context: fc.Arbitrary<Context> = record<Context>({ description: text, value: text }, {});
const resume: fc.Arbitrary<ResumeEntry> = record<ResumeEntry>(
  { interruptId: id, status: fc.constantFrom("resolved", "cancelled") },
  { payload: arbitraryPresent, metadata },
);

/** Any valid `RunAgentInput`. */
export function arbitraryInput(): fc.Arbitrary<RunAgentInput> {
  return record<RunAgentInput>(
    { threadId: id, runId: id, messages },
    {
      protocolVersion: fc.constantFrom("1.0", "1.1", "9.9", "x"),
      parentRunId: id,
      state: arbitraryPresent,
      tools: fc.array(tool, { maxLength: 2 }),
      context: fc.array(context, { maxLength: 2 }),
      forwardedProps: arbitraryPresent,
      resume: fc.array(resume, { maxLength: 2 }),
    },
  );
}

const pointers = { path: arbitraryPointer };
type OperationOf<Op extends JsonPatchOperation["op"]> = Extract<JsonPatchOperation, { op: Op }>;

const operation: fc.Arbitrary<JsonPatchOperation> = fc.oneof(
  record<OperationOf<"add">>({ op: fc.constant("add"), ...pointers, value: arbitraryJson }, {}),
  record<OperationOf<"remove">>({ op: fc.constant("remove"), ...pointers }, {}),
  record<OperationOf<"replace">>(
    { op: fc.constant("replace"), ...pointers, value: arbitraryJson },
    {},
  ),
  record<OperationOf<"move">>({ op: fc.constant("move"), ...pointers, from: arbitraryPointer }, {}),
  record<OperationOf<"copy">>({ op: fc.constant("copy"), ...pointers, from: arbitraryPointer }, {}),
  record<OperationOf<"test">>({ op: fc.constant("test"), ...pointers, value: arbitraryJson }, {}),
);
const patch = fc.array(operation, { maxLength: 3 });

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const usage = fc.array(
  record<TokenUsage>(
    {},
    {
      provider: text,
      model: text,
      inputTokens: count,
      outputTokens: count,
      totalTokens: count,
      reasoningTokens: count,
      cachedInputTokens: count,
      cacheWriteInputTokens: count,
    },
  ),
  { maxLength: 2 },
);

const interrupt: fc.Arbitrary<Interrupt> = record<Interrupt>(
  { id, reason: text },
  {
    message: text,
    toolCallId: id,
    responseSchema: arbitraryJsonObject,
    expiresAt: text,
    metadata,
    subagentRunId: id,
  },
);
type RunOutcomeOf<Type> = Extract<RunFinishedOutcome, { type: Type }>;
type SubagentOutcomeOf<Type> = Extract<SubagentFinishedOutcome, { type: Type }>;
const ids = fc.array(id, { maxLength: 2 });

const runOutcome: fc.Arbitrary<RunFinishedOutcome> = fc.oneof(
  record<RunOutcomeOf<"success">>({ type: fc.constant("success") }, { pendingToolCallIds: ids }),
  record<RunOutcomeOf<"interrupt">>(
    {
      type: fc.constant("interrupt"),
      interrupts: fc.array(interrupt, { minLength: 1, maxLength: 2 }),
    },
    {},
  ),
  record<RunOutcomeOf<"cancelled">>({ type: fc.constant("cancelled") }, {}),
);
const subagentOutcome: fc.Arbitrary<SubagentFinishedOutcome> = fc.oneof(
  record<SubagentOutcomeOf<"success">>({ type: fc.constant("success") }, {}),
  record<SubagentOutcomeOf<"suspended">>({ type: fc.constant("suspended") }, { interruptIds: ids }),
);

const base = { timestamp: fc.maxSafeInteger(), rawEvent: arbitraryPresent, metadata };
const tagged = { ...base, subagentRunId: id };
const role = fc.constantFrom<TextMessageRole[]>("developer", "system", "assistant", "user");

function type<Type extends EventType>(value: Type): { type: fc.Arbitrary<Type> } {
  return { type: fc.constant(value) };
}

const EVENTS: { [Type in EventType]: fc.Arbitrary<EventOf<Type>> } = {
  RUN_STARTED: record<EventOf<"RUN_STARTED">>(
    { ...type("RUN_STARTED"), threadId: id, runId: id },
    { ...base, protocolVersion: text, parentRunId: id, input: arbitraryInput() },
  ),
  RUN_FINISHED: record<EventOf<"RUN_FINISHED">>(
    { ...type("RUN_FINISHED"), threadId: id, runId: id },
    { ...base, result: arbitraryPresent, outcome: runOutcome, usage },
  ),
  RUN_ERROR: record<EventOf<"RUN_ERROR">>(
    { ...type("RUN_ERROR"), message: text },
    { ...base, code: text, usage },
  ),
  STEP_STARTED: record<EventOf<"STEP_STARTED">>(
    { ...type("STEP_STARTED"), stepName: text },
    tagged,
  ),
  STEP_FINISHED: record<EventOf<"STEP_FINISHED">>(
    { ...type("STEP_FINISHED"), stepName: text },
    tagged,
  ),
  TEXT_MESSAGE_START: record<EventOf<"TEXT_MESSAGE_START">>(
    { ...type("TEXT_MESSAGE_START"), messageId: id },
    { ...tagged, role, name: text },
  ),
  TEXT_MESSAGE_CONTENT: record<EventOf<"TEXT_MESSAGE_CONTENT">>(
    { ...type("TEXT_MESSAGE_CONTENT"), messageId: id, delta: text },
    tagged,
  ),
  TEXT_MESSAGE_END: record<EventOf<"TEXT_MESSAGE_END">>(
    { ...type("TEXT_MESSAGE_END"), messageId: id },
    tagged,
  ),
  TEXT_MESSAGE_CHUNK: record<EventOf<"TEXT_MESSAGE_CHUNK">>(type("TEXT_MESSAGE_CHUNK"), {
    ...tagged,
    messageId: id,
    role,
    delta: text,
    name: text,
  }),
  TOOL_CALL_START: record<EventOf<"TOOL_CALL_START">>(
    { ...type("TOOL_CALL_START"), toolCallId: id, toolCallName: text },
    { ...tagged, parentMessageId: id },
  ),
  TOOL_CALL_ARGS: record<EventOf<"TOOL_CALL_ARGS">>(
    { ...type("TOOL_CALL_ARGS"), toolCallId: id, delta: text },
    tagged,
  ),
  TOOL_CALL_END: record<EventOf<"TOOL_CALL_END">>(
    { ...type("TOOL_CALL_END"), toolCallId: id },
    tagged,
  ),
  TOOL_CALL_CHUNK: record<EventOf<"TOOL_CALL_CHUNK">>(type("TOOL_CALL_CHUNK"), {
    ...tagged,
    toolCallId: id,
    toolCallName: text,
    parentMessageId: id,
    delta: text,
  }),
  TOOL_CALL_RESULT: record<EventOf<"TOOL_CALL_RESULT">>(
    { ...type("TOOL_CALL_RESULT"), messageId: id, toolCallId: id, content },
    { ...tagged, role: fc.constant("tool") },
  ),
  REASONING_START: record<EventOf<"REASONING_START">>(
    { ...type("REASONING_START"), messageId: id },
    tagged,
  ),
  REASONING_END: record<EventOf<"REASONING_END">>(
    { ...type("REASONING_END"), messageId: id },
    tagged,
  ),
  REASONING_MESSAGE_START: record<EventOf<"REASONING_MESSAGE_START">>(
    { ...type("REASONING_MESSAGE_START"), messageId: id, role: fc.constant("reasoning") },
    tagged,
  ),
  REASONING_MESSAGE_CONTENT: record<EventOf<"REASONING_MESSAGE_CONTENT">>(
    { ...type("REASONING_MESSAGE_CONTENT"), messageId: id, delta: text },
    tagged,
  ),
  REASONING_MESSAGE_END: record<EventOf<"REASONING_MESSAGE_END">>(
    { ...type("REASONING_MESSAGE_END"), messageId: id },
    tagged,
  ),
  REASONING_MESSAGE_CHUNK: record<EventOf<"REASONING_MESSAGE_CHUNK">>(
    type("REASONING_MESSAGE_CHUNK"),
    { ...tagged, messageId: id, delta: text },
  ),
  REASONING_ENCRYPTED_VALUE: record<EventOf<"REASONING_ENCRYPTED_VALUE">>(
    {
      ...type("REASONING_ENCRYPTED_VALUE"),
      subtype: fc.constantFrom("tool-call", "message"),
      entityId: id,
      encryptedValue: text,
    },
    tagged,
  ),
  STATE_SNAPSHOT: record<EventOf<"STATE_SNAPSHOT">>(
    { ...type("STATE_SNAPSHOT"), snapshot: arbitraryJson },
    tagged,
  ),
  STATE_DELTA: record<EventOf<"STATE_DELTA">>({ ...type("STATE_DELTA"), delta: patch }, tagged),
  MESSAGES_SNAPSHOT: record<EventOf<"MESSAGES_SNAPSHOT">>(
    { ...type("MESSAGES_SNAPSHOT"), messages },
    base,
  ),
  ACTIVITY_SNAPSHOT: record<EventOf<"ACTIVITY_SNAPSHOT">>(
    {
      ...type("ACTIVITY_SNAPSHOT"),
      messageId: id,
      activityType: text,
      content: arbitraryJsonObject,
    },
    { ...tagged, replace: fc.boolean() },
  ),
  ACTIVITY_DELTA: record<EventOf<"ACTIVITY_DELTA">>(
    { ...type("ACTIVITY_DELTA"), messageId: id, activityType: text, patch },
    tagged,
  ),
  SUBAGENT_STARTED: record<EventOf<"SUBAGENT_STARTED">>(
    { ...type("SUBAGENT_STARTED"), subagentRunId: id, name: text },
    {
      ...base,
      description: text,
      parentSubagentRunId: id,
      parentToolCallId: id,
      parentMessageId: id,
    },
  ),
  SUBAGENT_FINISHED: record<EventOf<"SUBAGENT_FINISHED">>(
    { ...type("SUBAGENT_FINISHED"), subagentRunId: id },
    { ...base, result: arbitraryPresent, outcome: subagentOutcome },
  ),
  SUBAGENT_ERROR: record<EventOf<"SUBAGENT_ERROR">>(
    { ...type("SUBAGENT_ERROR"), subagentRunId: id, message: text },
    { ...base, code: text },
  ),
  RAW: record<EventOf<"RAW">>(
    { ...type("RAW"), event: arbitraryJson },
    { ...tagged, source: text },
  ),
  CUSTOM: record<EventOf<"CUSTOM">>(
    { ...type("CUSTOM"), name: text, value: arbitraryJson },
    tagged,
  ),
};

const anyEvent: fc.Arbitrary<AgUiEvent> = fc.oneof(...Object.values(EVENTS));

/** Any valid AG-UI 1.0 event, or any of one type. */
export function arbitraryEvent(): fc.Arbitrary<AgUiEvent>;
export function arbitraryEvent<Type extends EventType>(wanted: Type): fc.Arbitrary<EventOf<Type>>;
export function arbitraryEvent(wanted?: EventType): fc.Arbitrary<AgUiEvent> {
  return wanted === undefined ? anyEvent : EVENTS[wanted];
}
