/** A cache that forgets its oldest entry when full, so that hostile documents cannot fill the memory. */
export function createBoundedCache<Value>(capacity: number): {
  getOrCreate(key: string, create: (key: string) => Value): Value;
} {
  const entries = new Map<string, Value>();
  return {
    getOrCreate(key, create) {
      const found = entries.get(key);
      if (found !== undefined) return found;
      const value = create(key);
      if (entries.size >= capacity) {
        const oldest = entries.keys().next();
        if (oldest.done !== true) entries.delete(oldest.value);
      }
      entries.set(key, value);
      return value;
    },
  };
}
