import type { JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { Aspect, EventFacts } from "./facts.js";
import { INTERRUPT_COMPONENT } from "./event.js";
import { NO_REFINEMENTS, refine, strictestFirst } from "./refinement.js";
import type { Refinements } from "./refinement.js";
import { snapshotAspects } from "./state.js";
import { INPUT_TABLE } from "./table.js";
import type { ClassificationRow } from "./table.js";
import type { InputPart } from "../vocabulary/input-part.js";

const ROWS: Readonly<Record<InputPart, ClassificationRow>> = INPUT_TABLE;

/** The known facts of the thread that a request continues. */
export type InputContext = {
  readonly refinements?: Refinements;
  /** The state in the request is the last one of the agent, so it changes nothing. */
  readonly stateEchoed?: boolean;
  /** Top-level keys of the state that it changes; absent, it may change any. */
  readonly writtenKeys?: readonly string[] | undefined;
  /** Number of leading messages that the gateway has already evaluated in this thread. */
  readonly knownMessages?: number;
};

/** The effects of a client's request: one aspect per part, the strictest first. */
export function classifyInput(input: RunAgentInput, context: InputContext = {}): EventFacts {
  const refinements = context.refinements ?? NO_REFINEMENTS;
  const aspects: Aspect[] = [partAspect("request", refinements)];
  const fresh = input.messages.slice(context.knownMessages ?? 0);
  if (fresh.some((message) => message.role === "user")) {
    aspects.push(partAspect("user_message", refinements));
  }
  if (fresh.some((message) => message.role === "tool")) {
    aspects.push(partAspect("tool_result", refinements));
  }
  if ((input.resume ?? []).length > 0) aspects.push(partAspect("resume", refinements));
  if ((input.context ?? []).length > 0) aspects.push(partAspect("context", refinements));
  if (!isEmpty(input.forwardedProps)) aspects.push(propsAspect(input.forwardedProps, refinements));
  const written = context.stateEchoed === true ? undefined : writtenState(input.state, context);
  if (written !== undefined && !isEmpty(written)) {
    const base = partAspect("state", refinements);
    for (const aspect of snapshotAspects(base, {}, written, refinements.inboundState)) {
      aspects.push({ ...aspect, path: `/state${aspect.path ?? ""}` });
    }
  }
  const [first, ...rest] = strictestFirst(aspects as [Aspect, ...Aspect[]]);
  const declared = (input.tools ?? []).map((tool) => tool.name);
  return {
    source: "RUN_AGENT_INPUT",
    direction: "inbound",
    ...first,
    ...(rest.length === 0 ? {} : { also: rest }),
    ...(declared.length === 0 ? {} : { declaredTools: declared }),
  };
}

/**
 * A listed property is allowed: requiring its class too would be a second condition for the same
 * thing. A policy may still name one.
 */
function propsAspect(props: JsonValue | undefined, refinements: Refinements): Aspect {
  const aspect = partAspect("forwarded_props", refinements);
  const isNamed = refinements.input.get("forwarded_props")?.classification !== undefined;
  if (isNamed || props === null || typeof props !== "object" || Array.isArray(props)) return aspect;
  const isListed = Object.keys(props).every((key) => refinements.listsProperty(key));
  return isListed ? { ...aspect, classification: "display", derived: "display" } : aspect;
}

/** The part of a state that the client changed. */
function writtenState(
  state: JsonValue | undefined,
  { writtenKeys }: InputContext,
): JsonValue | undefined {
  if (writtenKeys === undefined || state === null || typeof state !== "object") return state;
  const keys = new Set(writtenKeys);
  return Object.fromEntries(Object.entries(state).filter(([key]) => keys.has(key)));
}

function partAspect(part: InputPart, refinements: Refinements): Aspect {
  const row = ROWS[part];
  const base: Aspect = {
    eventType: row.eventType,
    ...(row.eventType === "custom" ? { customName: part } : {}),
    ...(row.target === "chat" ? { target: refinements.chat } : {}),
    ...(row.target === "interrupt" ? { target: { component_type: INTERRUPT_COMPONENT } } : {}),
    classification: row.classification,
    derived: row.classification,
  };
  return refine(base, refinements.input.get(part));
}

// Clients send `{}` and `null` for empty values.
function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
