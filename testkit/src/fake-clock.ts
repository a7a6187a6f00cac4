/** A clock that stands still until told otherwise. */
export type FakeClock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Moves the clock, backwards too: clocks do jump. */
  advance(milliseconds: number): void;
};

/** Makes a clock that starts at the given time. */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let current = start;
  return {
    now: () => current,
    advance: (milliseconds) => {
      current += milliseconds;
    },
  };
}
