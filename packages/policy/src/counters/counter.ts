import type { VelocityLimit } from "../compile/velocity-rules.js";
import type { BucketCounter, BucketSnapshot } from "./bucket.js";
import { createBucketCounter } from "./bucket.js";
import type { WindowCounter, WindowSnapshot } from "./window.js";
import { createWindowCounter } from "./window.js";

/** Counts the events of one key under one cap. */
export type VelocityCounter = WindowCounter | BucketCounter;

/** The state of a counter, as plain JSON. */
export type VelocitySnapshot = WindowSnapshot | BucketSnapshot;

/** A counter for a cap: it starts empty, or from a snapshot of the same kind. */
export function createVelocityCounter(
  { kind, max, windowMs }: Pick<VelocityLimit, "kind" | "max" | "windowMs">,
  snapshot?: VelocitySnapshot,
): VelocityCounter {
  if (kind === "bucket") {
    return createBucketCounter(
      max,
      windowMs,
      snapshot !== undefined && "debt" in snapshot ? snapshot : undefined,
    );
  }
  return createWindowCounter(
    windowMs,
    snapshot !== undefined && "counts" in snapshot ? snapshot : undefined,
  );
}
