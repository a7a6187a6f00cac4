import type { ContentPart, PartSource } from "./content.js";
import {
  COUNT,
  JSON_VALUE,
  listOf,
  OPEN_OBJECT,
  openShape,
  optional,
  optionalBeside,
  POINTER,
  required,
  shape,
  STRING,
} from "./field.js";
import type { Shape, Union, ValueSpec } from "./field.js";
import type { Context, ResumeEntry, RunAgentInput, Tool } from "./input.js";
import type { Message, ToolCall } from "./message.js";
import type { JsonPatchOperation } from "./event.js";
import type { Interrupt, RunFinishedOutcome, SubagentFinishedOutcome, TokenUsage } from "./run.js";

type Member<T, Tag extends keyof T, Value> = Extract<T, { [Key in Tag]: Value }>;

function union<T, Tag extends keyof T & string>(
  name: string,
  tag: Tag,
  members: { readonly [Value in T[Tag] & string]: Shape },
): Union {
  return { kind: "union", name, tag, members };
}

type SourceOf<Type> = Member<PartSource, "type", Type>;

/** The source of media. */
const SOURCE = union<PartSource, "type">("Source", "type", {
  data: shape<SourceOf<"data">, "type">("DataSource", {
    value: required(STRING),
    mimeType: required(STRING),
  }),
  url: shape<SourceOf<"url">, "type">("UrlSource", {
    value: required(STRING),
    mimeType: optional(STRING),
  }),
  file: shape<SourceOf<"file">, "type">("FileSource", {
    value: required(STRING),
    provider: optional(STRING),
    mimeType: optional(STRING),
  }),
});

function parts(name: string, nullMediaMetadata: "fatal" | "absent"): Union {
  const media = shape<Member<ContentPart, "type", "image">, "type">(`${name}Media`, {
    source: required(SOURCE),
    id: optional(STRING),
    metadata: optional(JSON_VALUE, nullMediaMetadata),
  });
  return union<ContentPart, "type">(name, "type", {
    text: shape<Member<ContentPart, "type", "text">, "type">(`${name}Text`, {
      text: required(STRING),
      id: optional(STRING),
      metadata: optional(JSON_VALUE),
    }),
    image: media,
    audio: media,
    video: media,
    document: media,
  });
}

// The official boundary forgives a null `metadata` of media parts inside messages, which older
// servers sent, but not inside TOOL_CALL_RESULT, whose parts are new in 1.0.
const MESSAGE_PART = parts("MessagePart", "absent");
const RESULT_PART = parts("ResultPart", "fatal");

/** Content of a TOOL_CALL_RESULT: text or parts. */
export const RESULT_CONTENT: ValueSpec = { kind: "stringOrList", element: RESULT_PART };
const MESSAGE_CONTENT: ValueSpec = { kind: "stringOrList", element: MESSAGE_PART };

const ENCRYPTED = {
  encryptedValue: optional(STRING),
  encryptedValueType: optionalBeside("encryptedValue", STRING),
};

const TOOL_CALL = shape<ToolCall>("ToolCall", {
  id: required(STRING),
  type: required({ kind: "enum", values: ["function"] }),
  function: required(
    shape<ToolCall["function"]>("FunctionCall", {
      name: required(STRING),
      arguments: required(STRING),
    }),
  ),
  ...ENCRYPTED,
  metadata: optional(OPEN_OBJECT),
});

const OWNED = {
  id: required(STRING),
  metadata: optional(OPEN_OBJECT),
  subagentRunId: optional(STRING),
};
const NAMED = { ...OWNED, name: optional(STRING), ...ENCRYPTED };
type MessageOf<Role> = Member<Message, "role", Role>;

/** A message, by role. */
export const MESSAGE: Union = union<Message, "role">("Message", "role", {
  developer: shape<MessageOf<"developer">, "role">("DeveloperMessage", {
    ...NAMED,
    content: required(STRING),
  }),
  system: shape<MessageOf<"system">, "role">("SystemMessage", {
    ...NAMED,
    content: required(STRING),
  }),
  user: shape<MessageOf<"user">, "role">("UserMessage", {
    ...NAMED,
    content: required(MESSAGE_CONTENT),
  }),
  assistant: shape<MessageOf<"assistant">, "role">("AssistantMessage", {
    ...NAMED,
    content: optional(STRING),
    toolCalls: optional(listOf(TOOL_CALL)),
  }),
  tool: shape<MessageOf<"tool">, "role">("ToolMessage", {
    ...OWNED,
    toolCallId: required(STRING),
    content: required(MESSAGE_CONTENT),
    error: optional(STRING),
    ...ENCRYPTED,
  }),
  activity: shape<MessageOf<"activity">, "role">("ActivityMessage", {
    ...OWNED,
    activityType: required(STRING),
    content: required(OPEN_OBJECT),
  }),
  reasoning: shape<MessageOf<"reasoning">, "role">("ReasoningMessage", {
    ...OWNED,
    content: required(STRING),
    ...ENCRYPTED,
  }),
});

const TOOL = shape<Tool>("Tool", {
  name: required(STRING),
  description: required(STRING),
  parameters: optional(JSON_VALUE, "absent"),
  metadata: optional(OPEN_OBJECT),
});
const CONTEXT = shape<Context>("Context", {
  description: required(STRING),
  value: required(STRING),
});
const RESUME_ENTRY = shape<ResumeEntry>("ResumeEntry", {
  interruptId: required(STRING),
  status: required({ kind: "enum", values: ["resolved", "cancelled"] }),
  payload: optional(JSON_VALUE, "absent"),
  metadata: optional(OPEN_OBJECT),
});

/** The request, which RUN_STARTED echoes. */
export const RUN_AGENT_INPUT: Shape = shape<RunAgentInput>("RunAgentInput", {
  threadId: required(STRING),
  runId: required(STRING),
  messages: required(listOf(MESSAGE)),
  protocolVersion: optional(STRING),
  parentRunId: optional(STRING),
  state: optional(JSON_VALUE, "absent"),
  tools: optional(listOf(TOOL)),
  context: optional(listOf(CONTEXT)),
  forwardedProps: optional(JSON_VALUE, "absent"),
  resume: optional(listOf(RESUME_ENTRY)),
});

type OperationOf<Op> = Member<JsonPatchOperation, "op", Op>;
const WITH_VALUE = { path: required(POINTER), value: required(JSON_VALUE) };
const WITH_FROM = { path: required(POINTER), from: required(POINTER) };

/** An RFC 6902 patch. */
export const PATCH: ValueSpec = listOf(
  union<JsonPatchOperation, "op">("PatchOperation", "op", {
    add: openShape<OperationOf<"add">, "op">("AddOperation", WITH_VALUE),
    remove: openShape<OperationOf<"remove">, "op">("RemoveOperation", { path: required(POINTER) }),
    replace: openShape<OperationOf<"replace">, "op">("ReplaceOperation", WITH_VALUE),
    move: openShape<OperationOf<"move">, "op">("MoveOperation", WITH_FROM),
    copy: openShape<OperationOf<"copy">, "op">("CopyOperation", WITH_FROM),
    test: openShape<OperationOf<"test">, "op">("TestOperation", WITH_VALUE),
  }),
);

/** Tokens used, one entry per model. */
export const USAGE: ValueSpec = listOf(
  shape<TokenUsage>("TokenUsage", {
    provider: optional(STRING),
    model: optional(STRING),
    inputTokens: optional(COUNT),
    outputTokens: optional(COUNT),
    totalTokens: optional(COUNT),
    reasoningTokens: optional(COUNT),
    cachedInputTokens: optional(COUNT),
    cacheWriteInputTokens: optional(COUNT),
  }),
);

const INTERRUPT = shape<Interrupt>("Interrupt", {
  id: required(STRING),
  reason: required(STRING),
  message: optional(STRING),
  toolCallId: optional(STRING),
  responseSchema: optional(OPEN_OBJECT),
  expiresAt: optional(STRING),
  metadata: optional(OPEN_OBJECT),
  subagentRunId: optional(STRING),
});

/** How a run ended. */
export const RUN_OUTCOME: Union = union<RunFinishedOutcome, "type">("RunOutcome", "type", {
  success: shape<Member<RunFinishedOutcome, "type", "success">, "type">("RunSuccess", {
    pendingToolCallIds: optional(listOf(STRING)),
  }),
  interrupt: shape<Member<RunFinishedOutcome, "type", "interrupt">, "type">("RunInterrupt", {
    interrupts: required(listOf(INTERRUPT, 1)),
  }),
  cancelled: shape<Member<RunFinishedOutcome, "type", "cancelled">, "type">("RunCancelled", {}),
});

/** How a subagent's invocation ended. */
export const SUBAGENT_OUTCOME: Union = union<SubagentFinishedOutcome, "type">(
  "SubagentOutcome",
  "type",
  {
    success: shape<Member<SubagentFinishedOutcome, "type", "success">, "type">(
      "SubagentSuccess",
      {},
    ),
    suspended: shape<Member<SubagentFinishedOutcome, "type", "suspended">, "type">(
      "SubagentSuspended",
      { interruptIds: optional(listOf(STRING)) },
    ),
  },
);
