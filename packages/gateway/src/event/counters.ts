/** The number of events that a connection forwarded and blocked. */
export type RunCounters = { forwarded: number; blocked: number };

export function createRunCounters(): RunCounters {
  return { forwarded: 0, blocked: 0 };
}
