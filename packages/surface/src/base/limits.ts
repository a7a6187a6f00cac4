import { assertPositiveInteger } from "@countersign/core";
import type { SurfaceLimits } from "./facts.js";

/** The limits of a model when the caller sets none. */
export const DEFAULT_SURFACE_LIMITS: SurfaceLimits = Object.freeze({
  maxSurfaces: 256,
  maxComponents: 6_000,
  maxInstances: 6_000,
  maxDepth: 100,
  maxLabelComponents: 256,
  maxTextLength: 65_536,
  maxPropertyValues: 2_000,
  maxDataValues: 100_000,
  maxModelLength: 8 * 1024 * 1024,
  maxHtmlLength: 1024 * 1024,
  maxExpressionSteps: 10_000,
  maxDrawnLength: 4 * 1024 * 1024,
  maxSteps: 250_000,
  maxTotalLength: 512 * 1024 * 1024,
  maxProblems: 64,
});

/** Fills missing limits from the defaults. */
export function resolveSurfaceLimits(limits: Partial<SurfaceLimits> = {}): SurfaceLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_SURFACE_LIMITS, name)) throw new TypeError(`unknown limit ${name}`);
    assertPositiveInteger(name, value);
  }
  return { ...DEFAULT_SURFACE_LIMITS, ...limits };
}
