import type { JsonObject } from "@countersign/core";
import { BOOLEAN, COUNT, JSON_VALUE, OPEN_OBJECT, STRING, listOf, optional } from "./field.js";
import { openShape, required } from "./field.js";
import type { Field, Shape } from "./field.js";
import type { Tool } from "./input.js";

type Flags<Name extends string> = { [Key in Name]?: boolean };

/**
 * The capabilities an agent declares. Every group and field is optional; an absent one declares
 * nothing.
 */
export type AgentCapabilities = {
  identity?: {
    name?: string;
    type?: string;
    description?: string;
    version?: string;
    provider?: string;
    documentationUrl?: string;
    metadata?: JsonObject;
  };
  transport?: Flags<"streaming" | "websocket" | "httpBinary" | "pushNotifications" | "resumable">;
  tools?: Flags<"supported" | "parallelCalls" | "clientProvided"> & { items?: Tool[] };
  output?: { structuredOutput?: boolean; supportedMimeTypes?: string[] };
  state?: Flags<"snapshots" | "deltas" | "memory" | "persistentState">;
  multiAgent?: Flags<"supported" | "delegation" | "handoffs"> & {
    subagents?: { name: string; description?: string }[];
  };
  reasoning?: Flags<"supported" | "streaming" | "encrypted">;
  multimodal?: {
    input?: Flags<"image" | "audio" | "video" | "pdf" | "file">;
    output?: Flags<"image" | "audio">;
  };
  execution?: Flags<"codeExecution" | "sandboxed"> & {
    maxIterations?: number;
    maxExecutionTime?: number;
  };
  humanInTheLoop?: Flags<
    "supported" | "approvals" | "interventions" | "feedback" | "interrupts" | "approveWithEdits"
  >;
  custom?: JsonObject;
};

type Group<Name extends keyof AgentCapabilities> = NonNullable<AgentCapabilities[Name]>;

const flag: Field<false> = optional(BOOLEAN);
const word: Field<false> = optional(STRING);

/** The groups of capabilities. Their objects are open: a newer agent may say more. */
export const AGENT_CAPABILITIES: Shape = openShape<AgentCapabilities>("AgentCapabilities", {
  identity: optional(
    openShape<Group<"identity">>("IdentityCapabilities", {
      name: word,
      type: word,
      description: word,
      version: word,
      provider: word,
      documentationUrl: word,
      metadata: optional(OPEN_OBJECT),
    }),
  ),
  transport: optional(
    openShape<Group<"transport">>("TransportCapabilities", {
      streaming: flag,
      websocket: flag,
      httpBinary: flag,
      pushNotifications: flag,
      resumable: flag,
    }),
  ),
  tools: optional(
    openShape<Group<"tools">>("ToolsCapabilities", {
      supported: flag,
      parallelCalls: flag,
      clientProvided: flag,
      items: optional(
        listOf(
          openShape<Tool>("CapabilityTool", {
            name: required(STRING),
            description: required(STRING),
            parameters: optional(JSON_VALUE),
            metadata: optional(OPEN_OBJECT),
          }),
        ),
      ),
    }),
  ),
  output: optional(
    openShape<Group<"output">>("OutputCapabilities", {
      structuredOutput: flag,
      supportedMimeTypes: optional(listOf(STRING)),
    }),
  ),
  state: optional(
    openShape<Group<"state">>("StateCapabilities", {
      snapshots: flag,
      deltas: flag,
      memory: flag,
      persistentState: flag,
    }),
  ),
  multiAgent: optional(
    openShape<Group<"multiAgent">>("MultiAgentCapabilities", {
      supported: flag,
      delegation: flag,
      handoffs: flag,
      subagents: optional(
        listOf(
          openShape<{ name: string; description?: string }>("SubagentInfo", {
            name: required(STRING),
            description: word,
          }),
        ),
      ),
    }),
  ),
  reasoning: optional(
    openShape<Group<"reasoning">>("ReasoningCapabilities", {
      supported: flag,
      streaming: flag,
      encrypted: flag,
    }),
  ),
  multimodal: optional(
    openShape<Group<"multimodal">>("MultimodalCapabilities", {
      input: optional(
        openShape<NonNullable<Group<"multimodal">["input"]>>("MultimodalInput", {
          image: flag,
          audio: flag,
          video: flag,
          pdf: flag,
          file: flag,
        }),
      ),
      output: optional(
        openShape<NonNullable<Group<"multimodal">["output"]>>("MultimodalOutput", {
          image: flag,
          audio: flag,
        }),
      ),
    }),
  ),
  execution: optional(
    openShape<Group<"execution">>("ExecutionCapabilities", {
      codeExecution: flag,
      sandboxed: flag,
      maxIterations: optional(COUNT),
      maxExecutionTime: optional(COUNT),
    }),
  ),
  humanInTheLoop: optional(
    openShape<Group<"humanInTheLoop">>("HumanInTheLoopCapabilities", {
      supported: flag,
      approvals: flag,
      interventions: flag,
      feedback: flag,
      interrupts: flag,
      approveWithEdits: flag,
    }),
  ),
  custom: optional(OPEN_OBJECT),
});
