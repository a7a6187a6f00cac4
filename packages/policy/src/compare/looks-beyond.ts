import { isActive } from "../compile/rule.js";
import type { PolicyDocument } from "../document/model.js";

/** Whether a rule uses what an entry changes: the class, and type and target if those differ. */
export function looksBeyondClass({ rules }: PolicyDocument, isSamePlace: boolean): boolean {
  const conditions = isActive(rules.ag_ui_conditions) ? (rules.ag_ui_conditions.rules ?? []) : [];
  const caps = [rules.velocity ?? []].flat().filter(isActive);
  const isMatched = [...conditions, ...caps].some(({ match }) =>
    (isSamePlace ? CLASS_KEYS : PLACE_KEYS).some((key) => match?.[key] !== undefined),
  );
  const isRead = conditions.some(({ when }) => READS[isSamePlace ? "class" : "place"].test(when));
  if (isMatched || isRead) return true;
  const isAboutPlaces =
    isActive(rules.ag_ui_components) || (rules.ag_ui?.capability_scopes ?? []).length > 0;
  return !isSamePlace && isAboutPlaces;
}

const CLASS_KEYS = ["classification"] as const;
const PLACE_KEYS = [...CLASS_KEYS, "event_type", "component_type", "component_id"] as const;
/** An expression that uses the event other than by named fields may read any of them. */
const READS = {
  class: /classification|\bevent\b(?!\s*\.\s*[a-z_]\w*\b(?!\s*\())/iu,
  place: /classification|event_type|target|\bevent\b(?!\s*\.\s*[a-z_]\w*\b(?!\s*\())/iu,
} as const;
