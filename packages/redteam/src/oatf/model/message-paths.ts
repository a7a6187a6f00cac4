import type { JsonValue } from "@countersign/core";
import { EVENT_TABLE, EVENT_TYPES } from "@countersign/wire";
import type { Field, ValueSpec } from "@countersign/wire";
import { canSatisfy } from "./can-satisfy.js";
import type { Direction } from "./document.js";
import {
  ACCUMULATED_ACTIVITY,
  ACCUMULATED_MESSAGE,
  ACCUMULATED_REASONING,
  ACCUMULATED_RESPONSE,
  ACCUMULATED_STATE,
  ACCUMULATED_TOOL_CALL,
  isJoinedInto,
} from "./events.js";

/** The step of a path that means every element of a list. */
export const EACH = "[*]";

const ANY: ValueSpec = { kind: "json" };
const TEXT: ValueSpec = { kind: "string" };

function shape(fields: Readonly<Record<string, ValueSpec>>): ValueSpec {
  const described: Record<string, Field> = {};
  for (const [name, spec] of Object.entries(fields)) {
    described[name] = { spec, required: false, whenNull: "data" };
  }
  return { kind: "shape", name: "", fields: described, required: [], open: false };
}

function listOf(element: ValueSpec): ValueSpec {
  return { kind: "list", element, minimum: 0 };
}

function nameOf(type: string): ValueSpec {
  return { kind: "enum", values: [type] };
}

const CALL_NAME = { toolCallName: TEXT };
const ANSWER = { content: TEXT, body: TEXT, response: shape({ content: TEXT }) };
const THOUGHT = { messageId: TEXT, title: TEXT, delta: TEXT, timestamp: ANY, rawEvent: ANY };
const CALLS = listOf(shape({ id: TEXT, name: TEXT, arguments: TEXT, result: TEXT }));

/** The runner's own entries: what it joins of a run. */
const JOINED: ReadonlyMap<string, ValueSpec> = new Map([
  [
    ACCUMULATED_RESPONSE,
    shape({
      messages: listOf(shape({ id: TEXT, role: TEXT, content: TEXT, tool_calls: CALLS })),
      reasoning: listOf(shape({ id: TEXT, content: TEXT })),
      ...ANSWER,
    }),
  ],
  [ACCUMULATED_MESSAGE, shape({ delta: TEXT, ...ANSWER })],
  [ACCUMULATED_REASONING, shape({ delta: TEXT, content: TEXT })],
  [ACCUMULATED_ACTIVITY, shape({ content: ANY, text: TEXT })],
  [ACCUMULATED_STATE, shape({ snapshot: ANY, text: TEXT })],
  [ACCUMULATED_TOOL_CALL, shape({ delta: TEXT, name: TEXT, arguments: ANY, ...CALL_NAME })],
]);

/**
 * The members an agent can send: the event table, `type`, and the additions of the binding and older
 * versions.
 */
const RECEIVED: ReadonlyMap<string, readonly ValueSpec[]> = new Map([
  ...EVENT_TYPES.map((type): [string, ValueSpec[]] => {
    const fields = { ...EVENT_TABLE[type].fields };
    const described: ValueSpec = { kind: "shape", name: type, fields, required: [], open: false };
    const isCall = type.startsWith("TOOL_CALL_") && type !== "TOOL_CALL_RESULT";
    return [
      type.toLowerCase(),
      [described, shape({ type: nameOf(type) }), ...(isCall ? [shape(CALL_NAME)] : [])],
    ];
  }),
  ...["start", "end", "text_message_start", "text_message_content", "text_message_end"].map(
    (name): [string, ValueSpec[]] => [
      `thinking_${name}`,
      [shape({ type: nameOf(`THINKING_${name.toUpperCase()}`), ...THOUGHT })],
    ],
  ),
]);

/**
 * The parts of a client's messages that reveal the agent: the result of a call that the agent made, and the
 * calls in the history of the next request. The document itself wrote the rest of a request.
 */
const SENT: ReadonlyMap<string, readonly ValueSpec[]> = new Map([
  ["tool_call_result", RECEIVED.get("tool_call_result") ?? []],
  [
    "run_agent_input",
    [
      shape({
        messages: listOf(
          shape({
            toolCallId: TEXT,
            toolCalls: listOf(
              shape({ id: TEXT, type: TEXT, function: shape({ name: TEXT, arguments: TEXT }) }),
            ),
          }),
        ),
      }),
    ],
  ],
]);

/** Which messages an indicator looks at. */
export type MessageFilter = {
  readonly surface?: string | undefined;
  readonly direction?: string | undefined;
  /** The joined entries of a run are there too. */
  readonly joined: boolean;
};

/** The messages that can show something of the agent to an indicator, each as the shapes it may have. */
export function visibleMessages({
  surface,
  direction,
  joined,
}: MessageFilter): (readonly ValueSpec[])[] {
  const found: (readonly ValueSpec[])[] = [];
  const gather = (side: Direction, messages: ReadonlyMap<string, readonly ValueSpec[]>): void => {
    if (direction !== undefined && direction !== side) return;
    for (const [event, shapes] of messages) {
      if (surface === undefined || surface === event) found.push(shapes);
    }
  };
  gather("response", RECEIVED);
  gather("request", SENT);
  if (!joined || (direction !== undefined && direction !== "response")) return found;
  for (const [event, joinedShape] of JOINED) {
    if (surface !== undefined && surface !== event && !isJoinedInto(event, surface)) continue;
    // Other entries also have the fields of the events that they join.
    const pieces =
      event === ACCUMULATED_STATE
        ? []
        : [...RECEIVED].filter(([piece]) => isJoinedInto(event, piece));
    found.push([joinedShape, ...pieces.flatMap(([, shapes]) => shapes)]);
  }
  return found;
}

/** Whether a message of one of these shapes can have a value at a path. */
export function canHold(shapes: readonly ValueSpec[], path: readonly string[]): boolean {
  return shapes.some((spec) => reach(spec, path).length > 0);
}

/** Whether a message of one of these shapes can have a value at a path that satisfies all conditions. */
export function canHoldValue(
  shapes: readonly ValueSpec[],
  path: readonly string[],
  conditions: readonly JsonValue[],
): boolean {
  return shapes.some((spec) => reach(spec, path).some((end) => canSatisfy(end, conditions)));
}

/** The possible values at a path. */
function reach(spec: ValueSpec, path: readonly string[]): ValueSpec[] {
  const [step, ...rest] = path;
  if (step === undefined) return [spec];
  switch (spec.kind) {
    case "json":
      return [ANY];
    case "object":
      return step === EACH ? [] : [ANY];
    case "list":
    case "stringOrList":
      return step === EACH ? reach(spec.element, rest) : [];
    case "shape": {
      const field = Object.hasOwn(spec.fields, step) ? spec.fields[step] : undefined;
      if (field !== undefined) return reach(field.spec, rest);
      return spec.open && step !== EACH ? [ANY] : [];
    }
    case "union":
      if (step === spec.tag) {
        return rest.length === 0 ? [{ kind: "enum", values: Object.keys(spec.members) }] : [];
      }
      return Object.values(spec.members).flatMap((member) => reach(member, path));
    default:
      return [];
  }
}
