import type { JsonObject } from "@countersign/core";
import { classifyEnvelope } from "../classify/envelope.js";
import type { Direction, EventFacts } from "../classify/facts.js";
import type { CompiledPolicy } from "../compile/compile.js";
import { compilePolicy } from "../compile/compile.js";
import type { CapabilityFacts, DecisionFacts } from "../compile/facts.js";
import { NO_COUNTERS } from "../compile/facts.js";
import { loadPolicy } from "../document/load.js";

/** Compiles a policy from its text. */
export function policyOf(text: string): CompiledPolicy {
  return compilePolicy(loadPolicy(text));
}

/** A valid token with these scopes. */
export function token(...scopes: string[]): CapabilityFacts {
  return { id: "cap-1", status: "valid", scopes };
}

/** Facts of an event given as `event_type class type:id`, e.g. `form_action submit modal:confirm`. */
export function eventOf(text: string, direction: Direction = "outbound"): EventFacts {
  const [eventType = "", classification = "", target] = text.split(" ");
  const [type, id] = target?.split(":") ?? [];
  const envelope: JsonObject = {
    event_type: eventType,
    classification,
    ...(type === undefined
      ? {}
      : { target: { component_type: type, ...(id === undefined ? {} : { component_id: id }) } }),
    payload: {},
  };
  return classifyEnvelope(envelope, direction);
}

/** Facts of a decision about an event. */
export function factsOf(
  event: EventFacts | string,
  rest: Partial<Omit<DecisionFacts, "event">> = {},
): DecisionFacts {
  return {
    transport: "sse",
    counters: NO_COUNTERS,
    ...rest,
    event: typeof event === "string" ? eventOf(event) : event,
  };
}

/** `allow`, or the reason. */
export function verdict(
  policy: CompiledPolicy,
  event: EventFacts | string,
  rest: Partial<Omit<DecisionFacts, "event">> = {},
): string {
  const decision = policy.evaluate(factsOf(event, rest));
  if (!decision.allow) return decision.reason;
  return decision.observed === undefined ? "allow" : `observed: ${decision.observed.reason}`;
}
