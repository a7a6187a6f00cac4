import type { JsonValue } from "@countersign/core";
import type { Message, Metadata } from "./message.js";

/** A tool the client offers to execute itself. */
export type Tool = {
  name: string;
  description: string;
  parameters?: JsonValue;
  metadata?: Metadata;
};

/** A piece of context the application adds. */
export type Context = { description: string; value: string };

/** The answer to one interrupt. */
export type ResumeEntry = {
  interruptId: string;
  status: "resolved" | "cancelled";
  payload?: JsonValue;
  metadata?: Metadata;
};

/** The request that starts one run. */
export type RunAgentInput = {
  threadId: string;
  runId: string;
  messages: Message[];
  protocolVersion?: string;
  parentRunId?: string;
  state?: JsonValue;
  tools?: Tool[];
  context?: Context[];
  forwardedProps?: JsonValue;
  resume?: ResumeEntry[];
};
