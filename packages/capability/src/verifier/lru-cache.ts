/** A bounded map that evicts the least recently used value. */
export type LruCache<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  readonly size: number;
};

/** Creates a map of at most `most` values. */
export function createLruCache<Value>(most: number): LruCache<Value> {
  // A Map iterates in insertion order, so re-inserting on use keeps the least recently used first.
  const values = new Map<string, Value>();
  return {
    get(key) {
      const value = values.get(key);
      if (value !== undefined) {
        values.delete(key);
        values.set(key, value);
      }
      return value;
    },
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      if (values.size <= most) return;
      const stalest = values.keys().next();
      if (stalest.done !== true) values.delete(stalest.value);
    },
    get size() {
      return values.size;
    },
  };
}
