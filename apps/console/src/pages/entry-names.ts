import type { Entry } from "../api/responses.js";

/** The kind of event, a custom one by its own name. */
export function eventName({ receipt: { event_type: type } }: Entry): string {
  return typeof type === "string" ? type : type.custom;
}

/** The part of the screen that an event aimed at. */
export function targetName({ receipt: { target } }: Entry): string {
  if (target === undefined) return "";
  return target.component_id === undefined
    ? target.component_type
    : `${target.component_type}:${target.component_id}`;
}
