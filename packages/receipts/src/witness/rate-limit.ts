/** Counts requests by name; returns whether one more is allowed. A minute's worth may come at once. */
export function createRateLimit(perMinute: number, clock: () => number): (name: string) => boolean {
  const left = new Map<string, { tokens: number; at: number }>();
  return (name) => {
    const now = clock();
    const { tokens, at } = left.get(name) ?? { tokens: perMinute, at: now };
    const filled = Math.min(perMinute, tokens + (Math.max(0, now - at) / 60_000) * perMinute);
    const isAllowed = filled >= 1;
    left.set(name, { tokens: isAllowed ? filled - 1 : filled, at: now });
    return isAllowed;
  };
}
