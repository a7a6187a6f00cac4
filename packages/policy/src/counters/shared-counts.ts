/** The counts of one cap where others count too, by key. Nothing of it waits but `reserve`. */
export type SharedCounts = {
  /** Events used up so far over all who count; at least the cap when there is none left, infinite when that is not known. */
  used(key: string): number;
  /** Counts one that `used` left room for. */
  count(key: string): void;
  /** Sees to it that so many can be counted, as far as there are; a promise where that has to be asked for. */
  reserve(key: string, events: number): Promise<void> | undefined;
  /** Nobody needs for now what is reserved of this key. */
  release(key: string): void;
};
