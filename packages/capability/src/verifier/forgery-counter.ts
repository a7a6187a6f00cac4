import { createLruCache } from "./lru-cache.js";

const SESSIONS = 10_000;

/** The maximum number of invalid signatures to check for one session. */
export type ForgeryLimit = { readonly count: number; readonly windowSeconds: number };

/**
 * Counts forgeries per agent and session. A forged token costs its sender a few hundred bytes and
 * us one signature check. Over the limit it costs us a hash and a lookup, and other sessions are
 * unaffected.
 */
export function createForgeryCounter({ count, windowSeconds }: ForgeryLimit): {
  isOver(session: string, now: number): boolean;
  record(session: string, now: number): void;
} {
  const sessions = createLruCache<{ since: number; forgeries: number }>(SESSIONS);
  return {
    isOver(session, now) {
      const entry = sessions.get(session);
      return entry !== undefined && now < entry.since + windowSeconds && entry.forgeries >= count;
    },
    record(session, now) {
      const entry = sessions.get(session);
      if (entry === undefined || now >= entry.since + windowSeconds) {
        sessions.set(session, { since: now, forgeries: 1 });
      } else entry.forgeries += 1;
    },
  };
}
