/** The counts of one cap that other processes count too, by key. Only `reserve` waits. */
export type SharedCounts = {
  /**
   * Events used so far by all processes; at least the cap when none is left, infinite when unknown.
   */
  used(key: string): number;
  /** Counts one event that `used` left room for. */
  count(key: string): void;
  /** Reserves this many events, as far as there are; a promise if another process must be asked. */
  reserve(key: string, events: number): Promise<void> | undefined;
  /** Releases the reservation of this key. */
  release(key: string): void;
};
