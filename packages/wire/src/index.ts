export type { AgentCapabilities } from "./model/capabilities.js";
export type {
  AudioPart,
  ContentPart,
  DataSource,
  DocumentPart,
  FileSource,
  ImagePart,
  PartSource,
  TextPart,
  UrlSource,
  VideoPart,
} from "./model/content.js";
export type {
  ActivityDeltaEvent,
  ActivitySnapshotEvent,
  AgUiEvent,
  CustomEvent,
  EventOf,
  EventType,
  MessagesSnapshotEvent,
  RawEvent,
  ReasoningEncryptedValueEvent,
  ReasoningEndEvent,
  ReasoningMessageChunkEvent,
  ReasoningMessageContentEvent,
  ReasoningMessageEndEvent,
  ReasoningMessageStartEvent,
  ReasoningStartEvent,
  RunErrorEvent,
  RunFinishedEvent,
  RunStartedEvent,
  StateDeltaEvent,
  StateSnapshotEvent,
  StepFinishedEvent,
  StepStartedEvent,
  SubagentErrorEvent,
  SubagentFinishedEvent,
  SubagentStartedEvent,
  TextMessageChunkEvent,
  TextMessageContentEvent,
  TextMessageEndEvent,
  TextMessageRole,
  TextMessageStartEvent,
  ToolCallArgsEvent,
  ToolCallChunkEvent,
  ToolCallEndEvent,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "./model/event.js";
export type { Context, ResumeEntry, RunAgentInput, Tool } from "./model/input.js";
export type {
  ActivityMessage,
  AssistantMessage,
  DeveloperMessage,
  Message,
  Metadata,
  ReasoningMessage,
  Role,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "./model/message.js";
export type { JsonPatch, JsonPatchOperation } from "./model/event.js";
export type {
  Interrupt,
  RunFinishedOutcome,
  SubagentFinishedOutcome,
  TokenUsage,
} from "./model/run.js";
export type { Field, FieldsOf, NullRule, Shape, Union, ValueSpec } from "./model/field.js";
export { EVENT_TABLE, EVENT_TYPES, isEventType } from "./model/table.js";
export type { EventEntry, LaneEffect, MetadataTarget, UnitKind, UnitPhase } from "./model/table.js";
