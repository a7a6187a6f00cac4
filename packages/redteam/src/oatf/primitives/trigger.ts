import type { JsonValue } from "@countersign/core";
import type { Trigger } from "../model/document.js";
import type { ConditionOptions } from "./condition.js";
import { durationSeconds } from "./duration.js";
import { evaluatePredicate } from "./predicate.js";

/** The state of a trigger; each phase starts with {@link createTriggerState}. */
export type TriggerState = { readonly eventCount: number };

/** An event offered to a trigger: its OATF name and the message content. */
export type TriggerEvent = { readonly event: string; readonly content: JsonValue };

/** Whether the phase is over, why, and the state to pass next time. */
export type TriggerResult = {
  readonly advanced: boolean;
  readonly reason?: "timeout" | "event_matched";
  readonly state: TriggerState;
};

/** The state at the entry of a phase. */
export function createTriggerState(): TriggerState {
  return { eventCount: 0 };
}

/**
 * Asks a trigger whether its phase is over. A timer calls it with `null`, because `after` has to fire on
 * a silent stream too; time is looked at first and leaves the counter alone.
 */
export function evaluateTrigger(
  trigger: Trigger,
  event: TriggerEvent | null,
  elapsedSeconds: number,
  state: TriggerState,
  options: ConditionOptions = {},
): TriggerResult {
  const after = trigger.after === undefined ? undefined : durationSeconds(trigger.after);
  if (after !== undefined && elapsedSeconds >= after) {
    return { advanced: true, reason: "timeout", state };
  }
  if (event === null || trigger.event === undefined || event.event !== trigger.event) {
    return { advanced: false, state };
  }
  if (trigger.match !== undefined && !evaluatePredicate(trigger.match, event.content, options)) {
    return { advanced: false, state };
  }
  const counted = { eventCount: state.eventCount + 1 };
  return counted.eventCount >= (trigger.count ?? 1)
    ? { advanced: true, reason: "event_matched", state: counted }
    : { advanced: false, state: counted };
}
