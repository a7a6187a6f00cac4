import type { Classification } from "@countersign/core";
import type { SurfaceComponent, SurfaceFacts, SurfaceInfo } from "@countersign/surface";
import type { Aspect, EventFacts, ShownPart } from "../classify/facts.js";
import type { Refinements } from "../classify/refinement.js";
import { refineNamed } from "../classify/refinement.js";
import type { UiEventType } from "../vocabulary/event-type.js";

/** Generative UI that one event changes, for the rules of `ag_ui_surfaces` and `ag_ui_apps`. */
export type SurfaceView = {
  /** What `SurfaceModel.apply` returned for the event. */
  readonly facts: SurfaceFacts;
  /**
   * `SurfaceModel.surfaces` after the event was applied: an update does not repeat the catalogue of
   * its surface. A component of a surface that is neither here nor in `facts` is blocked.
   */
  readonly shown: readonly SurfaceInfo[];
};

/** The semantic type of a component by its class; the others are `lifecycle`. */
const EVENT_TYPES: Readonly<Partial<Record<Classification, UiEventType>>> = {
  submit: "form_action",
  navigate: "navigation",
  alert: "notification",
};

/**
 * The facts of an event with each changed component as a further effect: target, class and type.
 * So `ag_ui.capability`, `ag_ui_components`, `capability_scopes`, `velocity` and conditions decide
 * about components as they do about other targets, and one blocked component blocks the event.
 *
 * Counters and the decision need the same facts:
 *
 *     const event = addSurface(classified, surface, policy.refinements);
 *     const counters = book.peek(event, keys, now);
 *     policy.evaluate({ event, counters, surface: { facts: surface, shown: model.surfaces }, … });
 */
export function addSurface(
  event: EventFacts,
  surface: SurfaceFacts,
  refinements: Refinements,
): EventFacts {
  const effects = new Map<string, Aspect>();
  for (const component of surface.components) {
    const aspect = aspectOf(component, refinements);
    // A list draws a component once for each item: one effect, unless the class differs.
    const { componentType, componentId } = component;
    const key = JSON.stringify([componentType, componentId, aspect.classification]);
    if (!effects.has(key)) effects.set(key, aspect);
  }
  if (effects.size === 0) return event;
  return { ...event, also: [...(event.also ?? []), ...effects.values()] };
}

function aspectOf(component: SurfaceComponent, refinements: Refinements): Aspect {
  const { componentType, componentId, classification } = component;
  const base: Aspect = {
    eventType: EVENT_TYPES[classification] ?? "lifecycle",
    target: { component_type: componentType, component_id: componentId },
    classification,
    derived: classification,
    shown: shownPartOf(component),
  };
  return {
    ...refineNamed(base, refinements.components, componentType),
    shown: shownPartOf(component),
  };
}

/** How receipts name a component. */
export function shownPartOf(component: SurfaceComponent): ShownPart {
  const [action] = component.actions;
  return {
    type: component.componentType,
    id: component.componentId,
    ...(action === undefined ? {} : { action: action.name }),
    subtreeHash: component.subtreeHash,
  };
}
