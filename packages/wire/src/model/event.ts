import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentPart } from "./content.js";
import type { RunAgentInput } from "./input.js";
import type { Message, Metadata } from "./message.js";
import type { JsonPatch } from "./patch.js";
import type { RunFinishedOutcome, SubagentFinishedOutcome, TokenUsage } from "./run.js";

type Base<Type extends string> = {
  type: Type;
  /** Milliseconds since the epoch by convention; arrival order is the only order. */
  timestamp?: number;
  /** The framework's own event; no behaviour may be derived from it. */
  rawEvent?: JsonValue;
  metadata?: Metadata;
};
type Owned<Type extends string> = Base<Type> & { subagentRunId?: string };

/** Roles a streamed text message may take; absent means assistant. */
export type TextMessageRole = "developer" | "system" | "assistant" | "user";

export type RunStartedEvent = Base<"RUN_STARTED"> & {
  threadId: string;
  runId: string;
  protocolVersion?: string;
  parentRunId?: string;
  input?: RunAgentInput;
};
export type RunFinishedEvent = Base<"RUN_FINISHED"> & {
  threadId: string;
  runId: string;
  result?: JsonValue;
  outcome?: RunFinishedOutcome;
  usage?: TokenUsage[];
};
export type RunErrorEvent = Base<"RUN_ERROR"> & {
  message: string;
  code?: string;
  usage?: TokenUsage[];
};
export type StepStartedEvent = Owned<"STEP_STARTED"> & { stepName: string };
export type StepFinishedEvent = Owned<"STEP_FINISHED"> & { stepName: string };

export type TextMessageStartEvent = Owned<"TEXT_MESSAGE_START"> & {
  messageId: string;
  role?: TextMessageRole;
  name?: string;
};
export type TextMessageContentEvent = Owned<"TEXT_MESSAGE_CONTENT"> & {
  messageId: string;
  delta: string;
};
export type TextMessageEndEvent = Owned<"TEXT_MESSAGE_END"> & { messageId: string };
export type TextMessageChunkEvent = Owned<"TEXT_MESSAGE_CHUNK"> & {
  messageId?: string;
  role?: TextMessageRole;
  delta?: string;
  name?: string;
};

export type ToolCallStartEvent = Owned<"TOOL_CALL_START"> & {
  toolCallId: string;
  toolCallName: string;
  parentMessageId?: string;
};
export type ToolCallArgsEvent = Owned<"TOOL_CALL_ARGS"> & { toolCallId: string; delta: string };
export type ToolCallEndEvent = Owned<"TOOL_CALL_END"> & { toolCallId: string };
export type ToolCallChunkEvent = Owned<"TOOL_CALL_CHUNK"> & {
  toolCallId?: string;
  toolCallName?: string;
  parentMessageId?: string;
  delta?: string;
};
export type ToolCallResultEvent = Owned<"TOOL_CALL_RESULT"> & {
  messageId: string;
  toolCallId: string;
  content: string | ContentPart[];
  role?: "tool";
};

/** Opens a span of reasoning; `messageId` names the span. */
export type ReasoningStartEvent = Owned<"REASONING_START"> & { messageId: string };
export type ReasoningEndEvent = Owned<"REASONING_END"> & { messageId: string };
export type ReasoningMessageStartEvent = Owned<"REASONING_MESSAGE_START"> & {
  messageId: string;
  role: "reasoning";
};
export type ReasoningMessageContentEvent = Owned<"REASONING_MESSAGE_CONTENT"> & {
  messageId: string;
  delta: string;
};
export type ReasoningMessageEndEvent = Owned<"REASONING_MESSAGE_END"> & { messageId: string };
export type ReasoningMessageChunkEvent = Owned<"REASONING_MESSAGE_CHUNK"> & {
  messageId?: string;
  delta?: string;
};
export type ReasoningEncryptedValueEvent = Owned<"REASONING_ENCRYPTED_VALUE"> & {
  subtype: "tool-call" | "message";
  entityId: string;
  encryptedValue: string;
};

export type StateSnapshotEvent = Owned<"STATE_SNAPSHOT"> & { snapshot: JsonValue };
export type StateDeltaEvent = Owned<"STATE_DELTA"> & { delta: JsonPatch };
export type MessagesSnapshotEvent = Base<"MESSAGES_SNAPSHOT"> & { messages: Message[] };
export type ActivitySnapshotEvent = Owned<"ACTIVITY_SNAPSHOT"> & {
  messageId: string;
  activityType: string;
  content: JsonObject;
  /** Absent means true. */
  replace?: boolean;
};
export type ActivityDeltaEvent = Owned<"ACTIVITY_DELTA"> & {
  messageId: string;
  activityType: string;
  patch: JsonPatch;
};

export type SubagentStartedEvent = Base<"SUBAGENT_STARTED"> & {
  subagentRunId: string;
  name: string;
  description?: string;
  parentSubagentRunId?: string;
  parentToolCallId?: string;
  parentMessageId?: string;
};
export type SubagentFinishedEvent = Base<"SUBAGENT_FINISHED"> & {
  subagentRunId: string;
  result?: JsonValue;
  outcome?: SubagentFinishedOutcome;
};
export type SubagentErrorEvent = Base<"SUBAGENT_ERROR"> & {
  subagentRunId: string;
  message: string;
  code?: string;
};

export type RawEvent = Owned<"RAW"> & { event: JsonValue; source?: string };
export type CustomEvent = Owned<"CUSTOM"> & { name: string; value: JsonValue };

/** Every AG-UI 1.0 event. */
export type AgUiEvent =
  | RunStartedEvent
  | RunFinishedEvent
  | RunErrorEvent
  | StepStartedEvent
  | StepFinishedEvent
  | TextMessageStartEvent
  | TextMessageContentEvent
  | TextMessageEndEvent
  | TextMessageChunkEvent
  | ToolCallStartEvent
  | ToolCallArgsEvent
  | ToolCallEndEvent
  | ToolCallChunkEvent
  | ToolCallResultEvent
  | ReasoningStartEvent
  | ReasoningEndEvent
  | ReasoningMessageStartEvent
  | ReasoningMessageContentEvent
  | ReasoningMessageEndEvent
  | ReasoningMessageChunkEvent
  | ReasoningEncryptedValueEvent
  | StateSnapshotEvent
  | StateDeltaEvent
  | MessagesSnapshotEvent
  | ActivitySnapshotEvent
  | ActivityDeltaEvent
  | SubagentStartedEvent
  | SubagentFinishedEvent
  | SubagentErrorEvent
  | RawEvent
  | CustomEvent;

/** The discriminator of an event. */
export type EventType = AgUiEvent["type"];

/** The event of one type. */
export type EventOf<Type extends EventType> = Extract<AgUiEvent, { type: Type }>;
