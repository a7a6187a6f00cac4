import * as fc from "fast-check";
import type { WindowLimit } from "../quota/count-store.js";

/** Limits of both kinds, small enough to be reached. */
export function countedLimits(): fc.Arbitrary<WindowLimit> {
  return fc
    .record({
      kind: fc.constantFrom("window" as const, "bucket" as const),
      max: fc.integer({ min: 1, max: 40 }),
      burst: fc.double({ min: 1, max: 3, noNaN: true }),
      windowMs: fc.constantFrom(1000, 5000, 20_000),
    })
    .map(({ burst, ...limit }) => ({
      ...limit,
      capacity: limit.kind === "window" ? limit.max : limit.max * burst,
    }));
}
