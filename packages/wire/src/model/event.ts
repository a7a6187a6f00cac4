import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentPart } from "./content.js";
import type { RunAgentInput } from "./input.js";
import type { Message, Metadata } from "./message.js";
import type { RunFinishedOutcome, SubagentFinishedOutcome, TokenUsage } from "./run.js";

/** One RFC 6902 operation; the object is open, unknown members are data. */
export type JsonPatchOperation =
  | { op: "add"; path: string; value: JsonValue }
  | { op: "remove"; path: string }
  | { op: "replace"; path: string; value: JsonValue }
  | { op: "move"; path: string; from: string }
  | { op: "copy"; path: string; from: string }
  | { op: "test"; path: string; value: JsonValue };

/** An RFC 6902 patch: applied whole or not at all. */
export type JsonPatch = JsonPatchOperation[];

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

/** A run begins; only the first event of a run may be this one, or an error. */
export type RunStartedEvent = Base<"RUN_STARTED"> & {
  threadId: string;
  runId: string;
  protocolVersion?: string;
  parentRunId?: string;
  input?: RunAgentInput;
};
/** A run ended well, was interrupted or was cancelled, as `outcome` says. */
export type RunFinishedEvent = Base<"RUN_FINISHED"> & {
  threadId: string;
  runId: string;
  result?: JsonValue;
  outcome?: RunFinishedOutcome;
  usage?: TokenUsage[];
};
/** A run failed; it takes an end that was told before back. */
export type RunErrorEvent = Base<"RUN_ERROR"> & {
  message: string;
  code?: string;
  usage?: TokenUsage[];
};
/** A named step begins; names are per owner. */
export type StepStartedEvent = Owned<"STEP_STARTED"> & { stepName: string };
/** A named step ended. */
export type StepFinishedEvent = Owned<"STEP_FINISHED"> & { stepName: string };

/** Opens a text message, or opens a closed one again to append. */
export type TextMessageStartEvent = Owned<"TEXT_MESSAGE_START"> & {
  messageId: string;
  role?: TextMessageRole;
  name?: string;
};
/** A piece of an open text message. */
export type TextMessageContentEvent = Owned<"TEXT_MESSAGE_CONTENT"> & {
  messageId: string;
  delta: string;
};
/** Closes a text message. */
export type TextMessageEndEvent = Owned<"TEXT_MESSAGE_END"> & { messageId: string };
/** Start, content and end in one; what is left out is that of the chunk before. */
export type TextMessageChunkEvent = Owned<"TEXT_MESSAGE_CHUNK"> & {
  messageId?: string;
  role?: TextMessageRole;
  delta?: string;
  name?: string;
};

/** Opens a tool call. */
export type ToolCallStartEvent = Owned<"TOOL_CALL_START"> & {
  toolCallId: string;
  toolCallName: string;
  parentMessageId?: string;
};
/** A piece of an open call's arguments, which are JSON text once joined. */
export type ToolCallArgsEvent = Owned<"TOOL_CALL_ARGS"> & { toolCallId: string; delta: string };
/** Closes a tool call: its arguments are whole. */
export type ToolCallEndEvent = Owned<"TOOL_CALL_END"> & { toolCallId: string };
/** Start, arguments and end in one; what is left out is that of the chunk before. */
export type ToolCallChunkEvent = Owned<"TOOL_CALL_CHUNK"> & {
  toolCallId?: string;
  toolCallName?: string;
  parentMessageId?: string;
  delta?: string;
};
/** The result of a tool, as a message. */
export type ToolCallResultEvent = Owned<"TOOL_CALL_RESULT"> & {
  messageId: string;
  toolCallId: string;
  content: string | ContentPart[];
  role?: "tool";
};

/** Opens a span of reasoning; `messageId` names the span. */
export type ReasoningStartEvent = Owned<"REASONING_START"> & { messageId: string };
/** Closes a span of reasoning. */
export type ReasoningEndEvent = Owned<"REASONING_END"> & { messageId: string };
/** Opens a message of reasoning. */
export type ReasoningMessageStartEvent = Owned<"REASONING_MESSAGE_START"> & {
  messageId: string;
  role: "reasoning";
};
/** A piece of an open message of reasoning. */
export type ReasoningMessageContentEvent = Owned<"REASONING_MESSAGE_CONTENT"> & {
  messageId: string;
  delta: string;
};
/** Closes a message of reasoning. */
export type ReasoningMessageEndEvent = Owned<"REASONING_MESSAGE_END"> & { messageId: string };
/** Start, content and end in one; what is left out is that of the chunk before. */
export type ReasoningMessageChunkEvent = Owned<"REASONING_MESSAGE_CHUNK"> & {
  messageId?: string;
  delta?: string;
};
/** Opaque reasoning of a provider for a call or a message, to be sent back as it is. */
export type ReasoningEncryptedValueEvent = Owned<"REASONING_ENCRYPTED_VALUE"> & {
  subtype: "tool-call" | "message";
  entityId: string;
  encryptedValue: string;
  /** The kind of the value, which only the producer interprets; since 1.1. */
  encryptedValueType?: string;
};

/** The whole shared state. */
export type StateSnapshotEvent = Owned<"STATE_SNAPSHOT"> & { snapshot: JsonValue };
/** A change of the shared state. */
export type StateDeltaEvent = Owned<"STATE_DELTA"> & { delta: JsonPatch };
/** The whole conversation. */
export type MessagesSnapshotEvent = Base<"MESSAGES_SNAPSHOT"> & { messages: Message[] };
/** The whole content of an activity. */
export type ActivitySnapshotEvent = Owned<"ACTIVITY_SNAPSHOT"> & {
  messageId: string;
  activityType: string;
  content: JsonObject;
  /** Absent means true. */
  replace?: boolean;
};
/** A change of an activity's content. */
export type ActivityDeltaEvent = Owned<"ACTIVITY_DELTA"> & {
  messageId: string;
  activityType: string;
  patch: JsonPatch;
};

/** A subagent begins; what carries its id from here on is its own. */
export type SubagentStartedEvent = Base<"SUBAGENT_STARTED"> & {
  subagentRunId: string;
  name: string;
  description?: string;
  parentSubagentRunId?: string;
  parentToolCallId?: string;
  parentMessageId?: string;
};
/** A subagent ended. */
export type SubagentFinishedEvent = Base<"SUBAGENT_FINISHED"> & {
  subagentRunId: string;
  result?: JsonValue;
  outcome?: SubagentFinishedOutcome;
};
/** A subagent failed; the run goes on. */
export type SubagentErrorEvent = Base<"SUBAGENT_ERROR"> & {
  subagentRunId: string;
  message: string;
  code?: string;
};

/** A framework's own event, passed through; no behaviour may be derived from it. */
export type RawEvent = Owned<"RAW"> & { event: JsonValue; source?: string };
/** An event between one agent and one application. */
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
