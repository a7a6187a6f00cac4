import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { RUN_AGENT_INPUT } from "../model/shapes.js";
import { EVENT_SHAPES } from "../model/table.js";
import { malformed, notAnEvent } from "./errors.js";
import { isCleanEvent, isClean_RunAgentInput } from "./generated/clean.js";
import { isObject } from "./kind.js";
import { boundedName } from "./note.js";
import type { EnforceNote } from "./note.js";
import { Walk } from "./walk.js";

/** An event that passed, or nothing when its type is unknown; and what was removed. */
export type EnforcedEvent =
  | { readonly event: AgUiEvent; readonly notes: readonly EnforceNote[] }
  | { readonly event: undefined; readonly notes: readonly EnforceNote[] };

/** An input that passed, and what was removed. */
export type EnforcedInput = {
  readonly input: RunAgentInput;
  readonly notes: readonly EnforceNote[];
};

const NO_NOTES: readonly EnforceNote[] = Object.freeze([]);

const PRISTINE = {};

/**
 * The predicates enumerate with `for in`, which also visits what is enumerable on `Object.prototype`.
 * While something is there (another library polluted it), every value takes the careful path.
 */
function isPrototypePolluted(): boolean {
  for (const key in PRISTINE) return key !== undefined;
  return false;
}

/**
 * Applies the AG-UI 1.0 processing model to one event.
 *
 * Unknown material is removed and noted; a known field with a value the protocol does not allow throws
 * `ERR_ENFORCE_MALFORMED_VALUE`. Nothing is repaired, coerced or defaulted. When nothing was removed the
 * event is the very object that came in.
 */
export function enforceEvent(value: JsonValue): EnforcedEvent {
  if (!isObject(value)) throw notAnEvent(value);
  if (isCleanEvent(value) && !isPrototypePolluted()) {
    return { event: value as unknown as AgUiEvent, notes: NO_NOTES };
  }
  const type = Object.hasOwn(value, "type") ? value["type"] : undefined;
  // The transport rule of 1.0, applied here so that it holds on every transport.
  if (typeof type !== "string" || type === "") throw notAnEvent(type);
  const known = EVENT_SHAPES.get(type);
  if (known === undefined) {
    return {
      event: undefined,
      notes: [{ kind: "unknownEvent", path: "", type: boundedName(type) }],
    };
  }
  const walk = new Walk(type);
  const event = walk.object(known, value, "", "type") as unknown as AgUiEvent;
  return { event, notes: walk.notes.finish() };
}

/**
 * Applies the same model to what goes up. `state: null` reads as absent; `tools` and `context` stay
 * absent when they are.
 */
export function enforceInput(value: JsonValue): EnforcedInput {
  if (!isObject(value)) throw malformed("RunAgentInput", "", "an object", value);
  if (isClean_RunAgentInput(value) && !isPrototypePolluted()) {
    return { input: value as unknown as RunAgentInput, notes: NO_NOTES };
  }
  const walk = new Walk("RunAgentInput");
  const input = walk.object(RUN_AGENT_INPUT, value, "") as unknown as RunAgentInput;
  return { input, notes: walk.notes.finish() };
}
