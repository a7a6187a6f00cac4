import type { EventOf, EventType } from "./event.js";
import {
  BOOLEAN,
  JSON_VALUE,
  OPEN_OBJECT,
  SAFE_INTEGER,
  STRING,
  optional,
  required,
  shapeOf,
} from "./field.js";
import type { FieldsOf, Shape, ValueSpec } from "./field.js";
import {
  MESSAGE,
  PATCH,
  RESULT_CONTENT,
  RUN_AGENT_INPUT,
  RUN_OUTCOME,
  SUBAGENT_OUTCOME,
  USAGE,
} from "./shapes.js";

/** The thing on the screen or in the run that an event is a part of. */
export type UnitKind =
  | "text"
  | "toolCall"
  | "reasoning"
  | "reasoningSpan"
  | "activity"
  | "step"
  | "subagent"
  | "run"
  | "state"
  | "none";

/** The phase of its unit in which an event occurs; `whole` is a unit in one event. */
export type UnitPhase = "open" | "continue" | "close" | "chunk" | "whole";

/**
 * Which pending chunk streams an event closes: those of its own lane (its `subagentRunId`), all, those
 * of the lane it names as its subject, or none. A chunk continues its lane or replaces what is there.
 */
export type LaneEffect = "ownLane" | "allLanes" | "namedLane" | "nothing" | "chunk";

/**
 * The value into which a client merges an event's `metadata`. A later request sends it to the
 * agent.
 */
export type MetadataTarget = "message" | "toolCall" | "toolMessage" | "activity" | "nothing";

/** All that is known about one event type. */
export type EventEntry<Type extends EventType = EventType> = {
  /** Every field but `type`. */
  readonly fields: FieldsOf<EventOf<Type>, "type">;
  readonly unit: UnitKind;
  readonly phase: UnitPhase;
  /** The field that names the unit; undefined where there is none. */
  readonly idField: (keyof EventOf<Type> & string) | undefined;
  readonly lane: LaneEffect;
  readonly metadataTarget: MetadataTarget;
};

const BASE = {
  timestamp: optional(SAFE_INTEGER),
  rawEvent: optional(JSON_VALUE, "absent"),
  metadata: optional(OPEN_OBJECT),
};
const OWNED = { ...BASE, subagentRunId: optional(STRING) };
const TEXT_ROLE: ValueSpec = { kind: "enum", values: ["developer", "system", "assistant", "user"] };

const TEXT = { unit: "text", idField: "messageId", metadataTarget: "message" } as const;
const REASONING = { unit: "reasoning", idField: "messageId", metadataTarget: "message" } as const;
const SPAN = { unit: "reasoningSpan", idField: "messageId", metadataTarget: "nothing" } as const;
const CALL = { unit: "toolCall", idField: "toolCallId", metadataTarget: "toolCall" } as const;
const STEP = { unit: "step", idField: "stepName", metadataTarget: "nothing" } as const;
const ACTIVITY = { unit: "activity", idField: "messageId", metadataTarget: "activity" } as const;
const RUN = { unit: "run", lane: "allLanes", metadataTarget: "nothing" } as const;
const SUBAGENT = { unit: "subagent", idField: "subagentRunId", metadataTarget: "nothing" } as const;
const STATE = { unit: "state", idField: undefined, metadataTarget: "nothing" } as const;
const LOOSE = { unit: "none", phase: "whole", metadataTarget: "nothing" } as const;

/** One entry per AG-UI 1.0 event type: adding a type starts here and the compiler lists the rest. */
export const EVENT_TABLE: { readonly [Type in EventType]: EventEntry<Type> } = {
  RUN_STARTED: {
    ...RUN,
    phase: "open",
    idField: "runId",
    fields: {
      ...BASE,
      threadId: required(STRING),
      runId: required(STRING),
      protocolVersion: optional(STRING),
      parentRunId: optional(STRING),
      input: optional(RUN_AGENT_INPUT),
    },
  },
  RUN_FINISHED: {
    ...RUN,
    phase: "close",
    idField: "runId",
    fields: {
      ...BASE,
      threadId: required(STRING),
      runId: required(STRING),
      result: optional(JSON_VALUE, "absent"),
      outcome: optional(RUN_OUTCOME, "absent"),
      usage: optional(USAGE),
    },
  },
  RUN_ERROR: {
    ...RUN,
    phase: "close",
    idField: undefined,
    fields: {
      ...BASE,
      message: required(STRING),
      code: optional(STRING),
      usage: optional(USAGE),
    },
  },
  STEP_STARTED: {
    ...STEP,
    phase: "open",
    lane: "ownLane",
    fields: { ...OWNED, stepName: required(STRING) },
  },
  STEP_FINISHED: {
    ...STEP,
    phase: "close",
    lane: "ownLane",
    fields: { ...OWNED, stepName: required(STRING) },
  },
  TEXT_MESSAGE_START: {
    ...TEXT,
    phase: "open",
    lane: "ownLane",
    fields: {
      ...OWNED,
      messageId: required(STRING),
      role: optional(TEXT_ROLE),
      name: optional(STRING),
    },
  },
  TEXT_MESSAGE_CONTENT: {
    ...TEXT,
    phase: "continue",
    lane: "ownLane",
    fields: { ...OWNED, messageId: required(STRING), delta: required(STRING) },
  },
  TEXT_MESSAGE_END: {
    ...TEXT,
    phase: "close",
    lane: "ownLane",
    fields: { ...OWNED, messageId: required(STRING) },
  },
  TEXT_MESSAGE_CHUNK: {
    ...TEXT,
    phase: "chunk",
    lane: "chunk",
    fields: {
      ...OWNED,
      messageId: optional(STRING),
      role: optional(TEXT_ROLE),
      delta: optional(STRING),
      name: optional(STRING),
    },
  },
  TOOL_CALL_START: {
    ...CALL,
    phase: "open",
    lane: "ownLane",
    fields: {
      ...OWNED,
      toolCallId: required(STRING),
      toolCallName: required(STRING),
      parentMessageId: optional(STRING, "absent"),
    },
  },
  TOOL_CALL_ARGS: {
    ...CALL,
    phase: "continue",
    lane: "ownLane",
    fields: { ...OWNED, toolCallId: required(STRING), delta: required(STRING) },
  },
  TOOL_CALL_END: {
    ...CALL,
    phase: "close",
    lane: "ownLane",
    fields: { ...OWNED, toolCallId: required(STRING) },
  },
  TOOL_CALL_CHUNK: {
    ...CALL,
    phase: "chunk",
    lane: "chunk",
    fields: {
      ...OWNED,
      toolCallId: optional(STRING),
      toolCallName: optional(STRING),
      parentMessageId: optional(STRING, "absent"),
      delta: optional(STRING),
    },
  },
  TOOL_CALL_RESULT: {
    ...CALL,
    phase: "whole",
    lane: "ownLane",
    metadataTarget: "toolMessage",
    fields: {
      ...OWNED,
      messageId: required(STRING),
      toolCallId: required(STRING),
      content: required(RESULT_CONTENT),
      role: optional({ kind: "enum", values: ["tool"] }),
    },
  },
  REASONING_START: {
    ...SPAN,
    phase: "open",
    lane: "ownLane",
    fields: { ...OWNED, messageId: required(STRING) },
  },
  REASONING_END: {
    ...SPAN,
    phase: "close",
    lane: "ownLane",
    fields: { ...OWNED, messageId: required(STRING) },
  },
  REASONING_MESSAGE_START: {
    ...REASONING,
    phase: "open",
    lane: "ownLane",
    fields: {
      ...OWNED,
      messageId: required(STRING),
      role: required({ kind: "enum", values: ["reasoning"] }),
    },
  },
  REASONING_MESSAGE_CONTENT: {
    ...REASONING,
    phase: "continue",
    lane: "ownLane",
    fields: { ...OWNED, messageId: required(STRING), delta: required(STRING) },
  },
  REASONING_MESSAGE_END: {
    ...REASONING,
    phase: "close",
    lane: "ownLane",
    fields: { ...OWNED, messageId: required(STRING) },
  },
  REASONING_MESSAGE_CHUNK: {
    ...REASONING,
    phase: "chunk",
    lane: "chunk",
    fields: { ...OWNED, messageId: optional(STRING), delta: optional(STRING) },
  },
  REASONING_ENCRYPTED_VALUE: {
    ...LOOSE,
    idField: "entityId",
    lane: "nothing",
    fields: {
      ...OWNED,
      subtype: required({ kind: "enum", values: ["tool-call", "message"] }),
      entityId: required(STRING),
      encryptedValue: required(STRING),
      encryptedValueType: optional(STRING),
    },
  },
  STATE_SNAPSHOT: {
    ...STATE,
    phase: "whole",
    lane: "ownLane",
    fields: { ...OWNED, snapshot: required(JSON_VALUE) },
  },
  STATE_DELTA: {
    ...STATE,
    phase: "continue",
    lane: "ownLane",
    fields: { ...OWNED, delta: required(PATCH) },
  },
  MESSAGES_SNAPSHOT: {
    ...LOOSE,
    idField: undefined,
    lane: "allLanes",
    fields: { ...BASE, messages: required({ kind: "list", element: MESSAGE, minimum: 0 }) },
  },
  ACTIVITY_SNAPSHOT: {
    ...ACTIVITY,
    phase: "whole",
    lane: "nothing",
    fields: {
      ...OWNED,
      messageId: required(STRING),
      activityType: required(STRING),
      content: required(OPEN_OBJECT),
      replace: optional(BOOLEAN),
    },
  },
  ACTIVITY_DELTA: {
    ...ACTIVITY,
    phase: "continue",
    lane: "nothing",
    fields: {
      ...OWNED,
      messageId: required(STRING),
      activityType: required(STRING),
      patch: required(PATCH),
    },
  },
  SUBAGENT_STARTED: {
    ...SUBAGENT,
    phase: "open",
    lane: "nothing",
    fields: {
      ...BASE,
      subagentRunId: required(STRING),
      name: required(STRING),
      description: optional(STRING),
      parentSubagentRunId: optional(STRING),
      parentToolCallId: optional(STRING),
      parentMessageId: optional(STRING),
    },
  },
  SUBAGENT_FINISHED: {
    ...SUBAGENT,
    phase: "close",
    lane: "namedLane",
    fields: {
      ...BASE,
      subagentRunId: required(STRING),
      result: optional(JSON_VALUE, "absent"),
      outcome: optional(SUBAGENT_OUTCOME),
    },
  },
  SUBAGENT_ERROR: {
    ...SUBAGENT,
    phase: "close",
    lane: "namedLane",
    fields: {
      ...BASE,
      subagentRunId: required(STRING),
      message: required(STRING),
      code: optional(STRING),
    },
  },
  RAW: {
    ...LOOSE,
    idField: undefined,
    lane: "nothing",
    fields: { ...OWNED, event: required(JSON_VALUE), source: optional(STRING) },
  },
  CUSTOM: {
    ...LOOSE,
    idField: undefined,
    lane: "ownLane",
    fields: { ...OWNED, name: required(STRING), value: required(JSON_VALUE) },
  },
};

/** The 31 event types. */
export const EVENT_TYPES: readonly EventType[] = Object.freeze(
  Object.keys(EVENT_TABLE) as EventType[],
);

/** The fields of every event as one shape, by type. */
export const EVENT_SHAPES: ReadonlyMap<string, Shape> = new Map(
  EVENT_TYPES.map((type) => [type, shapeOf(type, EVENT_TABLE[type].fields, false)]),
);

/** Whether a string is the type of an AG-UI 1.0 event. */
export function isEventType(value: string): value is EventType {
  return EVENT_SHAPES.has(value);
}
