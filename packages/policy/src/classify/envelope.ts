import type { JsonObject, JsonValue } from "@countersign/core";
import { CountersignError } from "@countersign/core";
import "../errors.js";
import type { Classification } from "../vocabulary/classification.js";
import { isAtLeastAsStrict, isClassification } from "../vocabulary/classification.js";
import type { UiEventType } from "../vocabulary/event-type.js";
import { readEventType } from "../vocabulary/event-type.js";
import type { Target } from "../vocabulary/target.js";
import { applyClaim } from "./claim.js";
import type { Aspect, Direction, EventFacts } from "./facts.js";
import { NO_REFINEMENTS, refine } from "./refinement.js";
import type { Refinements } from "./refinement.js";

/** The class each event type of the envelope has by itself; `lifecycle` says more in its payload. */
export const ENVELOPE_TABLE: Readonly<Record<UiEventType, Classification>> = {
  text_stream: "display",
  state_update: "mutate",
  navigation: "navigate",
  lifecycle: "display",
  form_action: "submit",
  notification: "alert",
  error: "display",
  custom: "mutate",
};

const VERBS = new Map<string, Classification>([
  ...["create", "created", "mount", "mounted", "open", "opened"].map(
    (verb) => [verb, "create"] as const,
  ),
  ...["destroy", "destroyed", "unmount", "unmounted", "close", "closed"].map(
    (verb) => [verb, "destroy"] as const,
  ),
  ...["update", "updated", "change", "changed"].map((verb) => [verb, "mutate"] as const),
]);

/**
 * What an event in Chio's envelope does. Its own `classification` is a claim: it may be stricter than
 * what `event_type` and the payload's verb say, never weaker.
 *
 * @throws ERR_POLICY_ENVELOPE when a field the decision rests on is missing or malformed
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
  const derived = deriveClass(type.eventType, own(envelope, "payload"));
  const base: Aspect = {
    ...type,
    ...(target === undefined ? {} : { target }),
    classification: derived,
    derived,
  };
  const aspect =
    type.customName === undefined ? base : refine(base, refinements.custom.find(type.customName));
  const facts: EventFacts = { source: "ENVELOPE", direction, ...aspect };
  return claimed === undefined ? facts : applyClaim(facts, { classification: claimed });
}

function deriveClass(type: UiEventType, payload: JsonValue | undefined): Classification {
  if (type !== "lifecycle") return ENVELOPE_TABLE[type];
  if (payload === null || typeof payload !== "object" || Array.isArray(payload)) return "display";
  // Clients differ in which one they read, so the strictest counts, in whatever order they stand.
  let strictest: Classification = "display";
  for (const key of ["action", "lifecycle", "event"]) {
    const verb = own(payload, key);
    if (typeof verb !== "string") continue;
    const named = VERBS.get(verb.toLowerCase()) ?? "create";
    if (isAtLeastAsStrict(named, strictest)) strictest = named;
  }
  return strictest;
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

// Control characters and padding let one name look like another in a receipt or a console.
const UNSAFE_NAME = /[\p{Cc}]|^\s|\s$/u;

function readName(field: string, value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.trim() === "") {
    throw invalid(field, "must be a non-empty string");
  }
  if (UNSAFE_NAME.test(value)) {
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
