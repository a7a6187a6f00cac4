import type { JsonObject } from "@countersign/core";
import { copyJson } from "../json/values.js";
import type { Phase } from "../model/document.js";

/**
 * The state in force at a phase: the last one defined at or before it, whole, never merged; a deep copy,
 * so that no phase can change what another one sends. `undefined` when none is defined.
 */
export function computeEffectiveState(
  phases: readonly Phase[],
  index: number,
): JsonObject | undefined {
  for (let at = Math.min(index, phases.length - 1); at >= 0; at -= 1) {
    const state = phases[at]?.state;
    if (state !== undefined) return copyJson(state);
  }
  return undefined;
}
