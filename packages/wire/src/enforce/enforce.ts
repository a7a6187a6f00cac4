import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { enforceEventCompactly, enforceInputCompactly } from "./compact.js";
import type { EnforcedEvent, EnforcedInput } from "./compact.js";
import { isCleanEvent, isClean_RunAgentInput } from "./generated/clean.js";
import type { EnforceNote, Removal } from "./note.js";

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
  if (isJsonObject(value) && isCleanEvent(value) && !isPrototypePolluted()) {
    return { event: value as unknown as AgUiEvent, notes: NO_NOTES };
  }
  return enforceEventCompactly(value);
}

/**
 * Applies the same model to a request. `state: null` reads as absent; `tools` and `context` stay
 * absent when they are.
 *
 * @param onRemoved called for every removal, also beyond the limit of the notes
 */
export function enforceInput(
  value: JsonValue,
  onRemoved?: (removal: Removal) => void,
): EnforcedInput {
  if (isJsonObject(value) && isClean_RunAgentInput(value) && !isPrototypePolluted()) {
    return { input: value as unknown as RunAgentInput, notes: NO_NOTES };
  }
  return enforceInputCompactly(value, onRemoved);
}
