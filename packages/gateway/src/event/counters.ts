/** What a connection has let through and kept back, as the seed counts it. */
export type RunCounters = { forwarded: number; blocked: number };

/** Fresh counters. */
export function createRunCounters(): RunCounters {
  return { forwarded: 0, blocked: 0 };
}
