import type { JsonValue } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import type { AgUiEvent, EventOf, EventType, Interrupt, RunFinishedEvent } from "@countersign/wire";
import { ENVELOPE_NAME, UI_RENDER_HINT_NAME } from "@countersign/wire/dialects";
import { asObject } from "../base/json-object.js";
import { isAtLeastAsStrict } from "../vocabulary/classification.js";
import type { Aspect, EventFacts, ToolCallFacts } from "./facts.js";
import { applyClaim } from "./claim.js";
import type { ClassifyContext } from "./context.js";
import { classifyEnvelope } from "./envelope.js";
import type { Refinements } from "./refinement.js";
import { patchChanges, snapshotChanges } from "./changes.js";
import { isChildless } from "./difference.js";
import { NO_REFINEMENTS, refine, refineNamed, strictestFirst } from "./refinement.js";
import { patchAspects, snapshotAspects } from "./state.js";
import { CLASSIFICATION_TABLE } from "./table.js";
import type { ClassificationRow } from "./table.js";
import { toolAspect, toolCallFacts, toolCallsOfMessages } from "./tool-call.js";

const ROWS: Readonly<Record<EventType, ClassificationRow>> = CLASSIFICATION_TABLE;

// Most of a stream is text and lifecycle with constant facts; one frozen object per surface and
// type.
const shared = new WeakMap<Refinements, Map<EventType, EventFacts>>();

/** The effect of an agent's event on the user interface. */
export function classifyEvent(event: AgUiEvent, context: ClassifyContext = {}): EventFacts {
  const refinements = context.refinements ?? NO_REFINEMENTS;
  const facts = deriveFacts(event, context, refinements);
  return context.claim === undefined ? facts : applyClaim(facts, context.claim);
}

function deriveFacts(
  event: AgUiEvent,
  context: ClassifyContext,
  refinements: Refinements,
): EventFacts {
  const row = ROWS[event.type];
  switch (event.type) {
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CHUNK":
      return event.role === undefined || event.role === "assistant"
        ? plainFacts(event.type, row, refinements)
        : toFacts(event.type, [
            { ...rowAspect(row, refinements), classification: "mutate", derived: "mutate" },
          ]);
    case "RUN_FINISHED":
      return event.outcome?.type === "interrupt"
        ? toFacts(event.type, interruptAspects(event.outcome.interrupts, refinements))
        : plainFacts(event.type, row, refinements);
    case "RUN_STARTED":
      return withCalls(
        plainFacts(event.type, row, refinements),
        toolCallsOfMessages(event.input?.messages ?? [], context),
      );
    case "MESSAGES_SNAPSHOT":
      return withCalls(
        messagesFacts(event, row, context, refinements),
        toolCallsOfMessages(event.messages, context),
      );
    case "TOOL_CALL_START":
      return toolFacts(event.type, event.toolCallId, event.toolCallName, context, refinements);
    case "TOOL_CALL_CHUNK":
      return toolFacts(event.type, event.toolCallId, event.toolCallName, context, refinements);
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
    case "TOOL_CALL_RESULT":
      return toolFacts(event.type, event.toolCallId, undefined, context, refinements);
    case "STATE_SNAPSHOT": {
      const before = context.client?.state;
      const base = rowAspect(row, refinements);
      // An empty state is unchanged if the client sent an empty one, and removes everything if it
      // could not send any.
      const isWiped = context.client?.isStateAssumed === true && isChildless(event.snapshot);
      const known = isWiped ? undefined : before;
      const aspects = snapshotAspects(base, known, event.snapshot, refinements.state);
      return {
        ...toFacts(event.type, aspects),
        changes: () => snapshotChanges(known, event.snapshot),
      };
    }
    case "STATE_DELTA": {
      const before = context.client?.state;
      const known = context.client?.isStateAssumed === true ? undefined : before;
      const base = rowAspect(row, refinements);
      return {
        ...toFacts(event.type, patchAspects(base, known, event.delta, refinements.state)),
        changes: () => patchChanges(known, event.delta),
      };
    }
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
      return activityFacts(event, row, context, refinements);
    case "CUSTOM":
      return customFacts(event, refinements);
    case "RAW":
      return toFacts(event.type, [
        refineNamed(customAspect(event.source ?? "raw"), refinements.raw, event.source ?? ""),
      ]);
    default:
      return plainFacts(event.type, row, refinements);
  }
}

function rowAspect(row: ClassificationRow, refinements: Refinements): Aspect {
  return {
    eventType: row.eventType,
    ...(row.target === "chat" ? { target: refinements.chat } : {}),
    classification: row.classification,
    derived: row.classification,
  };
}

function plainFacts(type: EventType, row: ClassificationRow, refinements: Refinements): EventFacts {
  let byType = shared.get(refinements);
  if (byType === undefined) {
    byType = new Map();
    shared.set(refinements, byType);
  }
  let facts = byType.get(type);
  if (facts === undefined) {
    facts = Object.freeze(toFacts(type, [rowAspect(row, refinements)]));
    byType.set(type, facts);
  }
  return facts;
}

function toFacts(type: EventType, aspects: readonly [Aspect, ...Aspect[]]): EventFacts {
  const [first, ...rest] = aspects;
  return {
    source: type,
    direction: "outbound",
    ...first,
    ...(rest.length === 0 ? {} : { also: rest }),
  };
}

function withCalls(facts: EventFacts, toolCalls: readonly ToolCallFacts[]): EventFacts {
  return toolCalls.length === 0 ? facts : { ...facts, toolCalls };
}

/**
 * A message list removes activities from the screen by omitting them. The policy defines how the
 * rest is evaluated.
 */
function messagesFacts(
  event: EventOf<"MESSAGES_SNAPSHOT">,
  row: ClassificationRow,
  { client }: ClassifyContext,
  refinements: Refinements,
): EventFacts {
  const dropped = client?.droppedBy(event) ?? new Set<never>();
  const { lists } = refinements;
  const isByParts =
    lists === "open" || (lists === "parts" && client?.keepsMessages(event) === true);
  if (dropped.size === 0 && !isByParts) return plainFacts(event.type, row, refinements);
  const whole = rowAspect(row, refinements);
  const own: Aspect = isByParts
    ? { ...whole, classification: "display", derived: "display" }
    : whole;
  const gone = [...dropped].flatMap((type) => removedActivity(type, refinements));
  return toFacts(event.type, strictestFirst([own, ...gone]));
}

/** An activity that replaces one of another type removes that one. */
function activityFacts(
  event: EventOf<"ACTIVITY_SNAPSHOT"> | EventOf<"ACTIVITY_DELTA">,
  row: ClassificationRow,
  { client }: ClassifyContext,
  refinements: Refinements,
): EventFacts {
  const { activityType } = event;
  const held = client?.activity(event.messageId);
  const own = refineNamed(
    { ...rowAspect(row, refinements), target: { component_type: activityType } },
    refinements.activities,
    activityType,
  );
  const takesAway = held !== undefined && held.type !== activityType && !isOnlyNew(event);
  return {
    ...toFacts(
      event.type,
      takesAway ? strictestFirst([own, ...removedActivity(held.type, refinements)]) : [own],
    ),
    changes: () => {
      const before = held === undefined ? {} : held.content;
      if (event.type === "ACTIVITY_DELTA") return patchChanges(before, event.patch);
      if (!isOnlyNew(event)) return snapshotChanges(before, event.content);
      // No client sends an activity of an earlier run back, and a page that was reloaded does not have it.
      return before === undefined || held === undefined ? snapshotChanges({}, event.content) : [];
    },
  };
}

/** An activity with `replace: false` is shown if none exists yet, and otherwise has no effect. */
function isOnlyNew(event: EventOf<"ACTIVITY_SNAPSHOT"> | EventOf<"ACTIVITY_DELTA">): boolean {
  return event.type === "ACTIVITY_SNAPSHOT" && event.replace === false;
}

/** An activity of unknown type may be of each type that the policy names, and of another. */
function removedActivity(type: string | undefined, { activities }: Refinements): Aspect[] {
  const removed: Aspect = {
    eventType: "lifecycle",
    classification: "destroy",
    derived: "destroy",
  };
  if (type === undefined) {
    return [removed, ...activities.values.map((refinement) => refine(removed, refinement))];
  }
  return [refineNamed({ ...removed, target: { component_type: type } }, activities, type)];
}

function toolFacts(
  type: EventType,
  callId: string | undefined,
  ownName: string | undefined,
  context: ClassifyContext,
  refinements: Refinements,
): EventFacts {
  const name = ownName ?? (callId === undefined ? undefined : context.toolNames?.get(callId));
  const text = callId === undefined ? undefined : context.toolArguments?.get(callId);
  return {
    ...toFacts(type, [toolAspect(name, context, refinements)]),
    toolCalls: [toolCallFacts(name, text, context)],
  };
}

function interruptAspects(
  interrupts: Extract<RunFinishedEvent["outcome"], { type: "interrupt" }>["interrupts"],
  refinements: Refinements,
): [Aspect, ...Aspect[]] {
  const [first, ...rest] = interrupts.map((interrupt) => interruptAspect(interrupt, refinements));
  return first === undefined
    ? [interruptAspect(undefined, refinements)]
    : strictestFirst([first, ...rest]);
}

/** The surface of an unanswered interrupt of the agent. */
export const INTERRUPT_COMPONENT = "interrupt";

function interruptAspect(interrupt: Interrupt | undefined, refinements: Refinements): Aspect {
  const reason = interrupt?.reason ?? "";
  return refineNamed(
    {
      eventType: "form_action",
      target: {
        component_type: INTERRUPT_COMPONENT,
        ...(reason === "" ? {} : { component_id: reason }),
      },
      classification: "submit",
      derived: "submit",
    },
    refinements.interrupts,
    reason,
  );
}

function customFacts(event: EventOf<"CUSTOM">, refinements: Refinements): EventFacts {
  const { name, value } = event;
  if (name === ENVELOPE_NAME && refinements.custom.find(name) === undefined) {
    const carried = carriedEnvelope(value, refinements);
    if (carried !== undefined && isAtLeastAsStrict(carried.derived, "mutate")) {
      return {
        ...carried,
        source: event.type,
        also: [...(carried.also ?? []), customAspect(name)],
      };
    }
  }
  const base = name === UI_RENDER_HINT_NAME ? renderHint(value) : customAspect(name);
  return toFacts(event.type, [refineNamed(base, refinements.custom, name)]);
}

// A translator puts envelopes without a native form into this event. An agent can also write one,
// and gains nothing: it must be allowed as the envelope it imitates and as any other CUSTOM event.
function carriedEnvelope(value: JsonValue, refinements: Refinements): EventFacts | undefined {
  const envelope = asObject(value);
  if (envelope === undefined) return undefined;
  try {
    return classifyEnvelope(envelope, "outbound", refinements);
  } catch (error) {
    if (isCountersignError(error, "ERR_POLICY_ENVELOPE")) return undefined;
    throw error;
  }
}

function renderHint(value: JsonValue): Aspect {
  const component = asObject(value)?.["component"];
  return {
    eventType: "lifecycle",
    ...(typeof component === "string" && component !== ""
      ? { target: { component_type: component } }
      : {}),
    classification: "create",
    derived: "create",
  };
}

function customAspect(name: string): Aspect {
  return { eventType: "custom", customName: name, classification: "mutate", derived: "mutate" };
}
