import type { Clock } from "../../base/ports.js";

/** Returns whether a message is within the rate; a burst may have twice the rate. */
export function createMessageRate(perSecond: number, clock: Clock): () => boolean {
  let left = perSecond * 2;
  let at = clock.now();
  return () => {
    const now = clock.now();
    // A clock that jumps back adds and removes nothing.
    left = Math.min(perSecond * 2, left + (Math.max(0, now - at) * perSecond) / 1000);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
