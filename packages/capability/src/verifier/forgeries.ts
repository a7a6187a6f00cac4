import { createRecent } from "./recent.js";

const SESSIONS = 10_000;

/** The maximum number of invalid signatures to check for one session. */
export type ForgeryLimit = { readonly count: number; readonly windowSeconds: number };

/**
 * Counts forgeries per agent and session. A forged token costs its sender a few hundred bytes and
 * us one signature check. Over the limit it costs us a hash and a lookup, and other sessions are
 * unaffected.
 */
export function createForgeryCounter({ count, windowSeconds }: ForgeryLimit): {
  isOver(place: string, now: number): boolean;
  note(place: string, now: number): void;
} {
  const places = createRecent<{ since: number; forgeries: number }>(SESSIONS);
  return {
    isOver(place, now) {
      const entry = places.get(place);
      return entry !== undefined && now < entry.since + windowSeconds && entry.forgeries >= count;
    },
    note(place, now) {
      const entry = places.get(place);
      if (entry === undefined || now >= entry.since + windowSeconds) {
        places.set(place, { since: now, forgeries: 1 });
      } else entry.forgeries += 1;
    },
  };
}
