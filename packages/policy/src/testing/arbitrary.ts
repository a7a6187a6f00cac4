import * as fc from "fast-check";
import type { EventFacts } from "../classify/facts.js";
import type { DecisionFacts } from "../compile/facts.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import { UI_EVENT_TYPES } from "../vocabulary/event-type.js";

/** A component type. */
export const component = fc.constantFrom("chat-window", "modal", "toast");
const id = fc.constantFrom("main", "confirm", "x");
/** A class. */
export const classification = fc.constantFrom(...CLASSIFICATIONS);
const classes = fc.uniqueArray(classification);
const eventType = fc.constantFrom(...UI_EVENT_TYPES);
const target = fc.record(
  { component_type: component, component_id: id },
  { requiredKeys: ["component_type"] },
);
const scope = fc
  .tuple(
    fc.constantFrom("*", ...CLASSIFICATIONS),
    fc.constantFrom("*", "modal", "toast"),
    fc.option(id),
  )
  .map(([name, type, instance]) => `ui:${name}:${type}${instance === null ? "" : `:${instance}`}`);
/** An entry of `capability_scopes`. */
export const capabilityScope = fc.record(
  {
    scope_id: fc
      .tuple(classification, component, id)
      .map(([name, type, instance]) => `ui:${name}:${type}:${instance}`),
    allow_event_types: fc.uniqueArray(eventType, { maxLength: 3 }),
    allow_targets: fc.array(target, { maxLength: 2 }),
  },
  { requiredKeys: ["scope_id"] },
);
const optional = { requiredKeys: [] };

const agUi = fc.record(
  {
    transport: fc.constantFrom("sse" as const, "websocket" as const, "any" as const),
    allow_display_without_capability: fc.boolean(),
    restricted_classifications: classes,
    max_events_per_second: fc.integer({ min: 1, max: 20 }),
    capability_scopes: fc.array(capabilityScope, { maxLength: 3 }),
  },
  optional,
);
const components = fc.record(
  {
    allow_components: fc.uniqueArray(component),
    allow_ids: fc.uniqueArray(
      fc.tuple(component, fc.oneof(id, fc.constant("*"))).map((pair) => pair.join(":")),
    ),
    default: fc.constantFrom("allow" as const, "block" as const),
  },
  optional,
);
const inbound = fc.record(
  {
    default: fc.constantFrom("allow" as const, "block" as const),
    allow_classifications: classes,
  },
  optional,
);
/** Blocks about classes, components and directions. */
export const rules = fc.record(
  { ag_ui: agUi, ag_ui_components: components, ag_ui_inbound: inbound },
  { requiredKeys: ["ag_ui"] },
);

/** One aspect of an event. */
export const aspect = fc.record(
  { eventType, classification, derived: classification, target },
  { requiredKeys: ["eventType", "classification", "derived"] },
);
const event = fc
  .tuple(
    aspect,
    fc.array(aspect, { maxLength: 2 }),
    fc.constantFrom("inbound" as const, "outbound" as const),
  )
  .map(([first, also, direction]): EventFacts => ({
    source: "ENVELOPE",
    direction,
    ...first,
    also,
  }));
/** A token. */
export const capability = fc.record({
  id: fc.constant("cap"),
  status: fc.constantFrom("valid" as const, "valid" as const, "expired" as const),
  scopes: fc.array(scope, { maxLength: 4 }),
});
/** Facts of a decision. */
export const facts = fc
  .tuple(
    event,
    fc.constantFrom("sse" as const, "websocket" as const),
    fc.integer({ min: 1, max: 25 }),
    fc.option(capability, { nil: undefined }),
  )
  .map(([event, transport, eventsInSecond, capability]): DecisionFacts => ({
    event,
    transport,
    counters: { eventsInSecond, velocity: [1] },
    capability,
  }));
