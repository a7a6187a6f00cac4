import type { JsonObject } from "@countersign/core";
import type { ContentPart } from "./content.js";

/** Extra information, open by key; the key `ag-ui` is reserved by the protocol. */
export type Metadata = JsonObject;

type MessageBase = { id: string; metadata?: Metadata; subagentRunId?: string };
/** An opaque value and, since 1.1, its kind: both return to the producer as they came, and never the kind alone. */
type Encrypted = { encryptedValue?: string; encryptedValueType?: string };
type Named = Encrypted & { name?: string };

/** One call of a tool inside an assistant message; `arguments` is untrusted text. */
export type ToolCall = Encrypted & {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  metadata?: Metadata;
};

/** Instructions of the application to the model. */
export type DeveloperMessage = MessageBase & Named & { role: "developer"; content: string };
/** Instructions of the operator to the model. */
export type SystemMessage = MessageBase & Named & { role: "system"; content: string };
/** A message of the person. */
export type UserMessage = MessageBase & Named & { role: "user"; content: string | ContentPart[] };
/** A message of the agent, with its tool calls. */
export type AssistantMessage = MessageBase &
  Named & { role: "assistant"; content?: string; toolCalls?: ToolCall[] };
/** The result of the tool call `toolCallId`. */
export type ToolMessage = MessageBase &
  Encrypted & {
    role: "tool";
    toolCallId: string;
    content: string | ContentPart[];
    error?: string;
  };
/** Never sent upward: a consumer strips it from its input. */
export type ActivityMessage = MessageBase & {
  role: "activity";
  activityType: string;
  content: JsonObject;
};
/** The agent's reasoning, as far as it is shown. */
export type ReasoningMessage = MessageBase &
  Encrypted & {
    role: "reasoning";
    content: string;
  };

/** A message of a conversation, by role. */
export type Message =
  | DeveloperMessage
  | SystemMessage
  | UserMessage
  | AssistantMessage
  | ToolMessage
  | ActivityMessage
  | ReasoningMessage;

/** The author of a message. */
export type Role = Message["role"];
