import type { JsonObject, JsonValue } from "@countersign/core";
import { CountersignError, hasControlCharacter } from "@countersign/core";
import { isClassification } from "../vocabulary/classification.js";
import { readEventType } from "../vocabulary/event-type.js";
import type { Target } from "../vocabulary/target.js";
import { applyClaim } from "./claim.js";
import type { Aspect, Direction, EventFacts } from "./facts.js";
import { payloadClass } from "./envelope-payload.js";
import { NO_REFINEMENTS, refine, refineNamed } from "./refinement.js";
import type { Refinements } from "./refinement.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An event envelope lacks a field that the decision needs. */
    ERR_POLICY_ENVELOPE: { field: string };
  }
}

/**
 * The effect of an event in Chio's envelope. Its own `classification` is a claim: it may be
 * stricter than the class of `event_type`, `target` and `payload`, never weaker.
 *
 * @throws ERR_POLICY_ENVELOPE when a field that the decision needs is missing or malformed
 */
export function classifyEnvelope(
  envelope: JsonObject,
  direction: Direction,
  refinements: Refinements = NO_REFINEMENTS,
): EventFacts {
  const type = readEventType(own(envelope, "event_type"));
  if (type === undefined) throw invalid("event_type", "must name a known event type");
  const target = readTarget(own(envelope, "target"));
  const claimed = own(envelope, "classification");
  if (claimed !== undefined && !isClassification(claimed)) {
    throw invalid("classification", "must name a known class");
  }
  const derived = payloadClass(type.eventType, target !== undefined, own(envelope, "payload"));
  const base: Aspect = {
    ...type,
    ...(target === undefined ? {} : { target }),
    classification: derived,
    derived,
  };
  const aspect =
    type.customName === undefined ? base : refineNamed(base, refinements.custom, type.customName);
  const also = type.eventType === "state_update" ? stateAspects(base, direction, refinements) : [];
  const facts: EventFacts = {
    source: "ENVELOPE",
    direction,
    ...aspect,
    ...(also.length === 0 ? {} : { also }),
  };
  return claimed === undefined ? facts : applyClaim(facts, { classification: claimed });
}

/**
 * The envelope does not contain the paths of a change, so it counts as one of every path that a
 * rule names.
 */
function stateAspects(base: Aspect, direction: Direction, refinements: Refinements): Aspect[] {
  const rules = direction === "outbound" ? refinements.state : refinements.inboundState;
  return rules.map(({ refinement }) => refine(base, refinement));
}

function readTarget(value: JsonValue | undefined): Target | undefined {
  if (value === undefined) return undefined;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw invalid("target", "must be an object");
  }
  const type = readName("target.component_type", own(value, "component_type"));
  if (type === undefined) throw invalid("target.component_type", "must be a non-empty string");
  const id = readName("target.component_id", own(value, "component_id"));
  return { component_type: type, ...(id === undefined ? {} : { component_id: id }) };
}

function readName(field: string, value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.trim() === "") {
    throw invalid(field, "must be a non-empty string");
  }
  // These can make one name look like another in a receipt or a console.
  if (value !== value.trim() || hasControlCharacter(value)) {
    throw invalid(field, "must be unpadded and contain no control characters");
  }
  return value;
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function invalid(field: string, problem: string): CountersignError<"ERR_POLICY_ENVELOPE"> {
  return new CountersignError("ERR_POLICY_ENVELOPE", `invalid event: ${field} ${problem}`, {
    field,
  });
}
