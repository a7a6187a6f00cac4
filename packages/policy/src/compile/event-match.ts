import type { Aspect, EventFacts } from "../classify/facts.js";
import type { EventMatch } from "../document/model.js";
import { matchesGlob } from "../patterns/glob.js";
import { readEventType } from "../vocabulary/event-type.js";

/** Whether a rule applies to one aspect of an event. */
export type CompiledMatch = (event: EventFacts, aspect: Aspect) => boolean;

/** Compiles a `match`; without one, or with an empty one, a rule applies to everything. */
export function compileMatch(match: EventMatch | undefined): CompiledMatch {
  if (match === undefined) return () => true;
  const type = readEventType(match.event_type);
  const { classification, component_type, component_id, direction, tool } = match;
  return (event, aspect) =>
    (direction === undefined || event.direction === direction) &&
    (type === undefined ||
      (aspect.eventType === type.eventType &&
        (type.customName === undefined || aspect.customName === type.customName))) &&
    // A raised claim must not hide an event from the rules for its real class.
    (classification === undefined ||
      aspect.classification === classification ||
      aspect.derived === classification) &&
    (component_type === undefined || aspect.target?.component_type === component_type) &&
    (component_id === undefined || aspect.target?.component_id === component_id) &&
    (tool === undefined ||
      (event.toolCalls?.some((call) => matchesGlob(tool, call.name)) ?? false));
}

/** Whether any aspect of an event matches. */
export function matchesAny(match: CompiledMatch, event: EventFacts): boolean {
  if (match(event, event)) return true;
  return event.also?.some((aspect) => match(event, aspect)) ?? false;
}
