import type { Clock } from "../../base/ports.js";

/** Says of each message whether it comes within the rate; twice the rate may come at once. */
export function createMessageRate(perSecond: number, clock: Clock): () => boolean {
  let left = perSecond * 2;
  let at = clock.now();
  return () => {
    const now = clock.now();
    // A clock that jumps back gives nothing and takes nothing.
    left = Math.min(perSecond * 2, left + (Math.max(0, now - at) * perSecond) / 1000);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
