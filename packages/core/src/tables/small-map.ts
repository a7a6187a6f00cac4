/** Stands for no key: none that is handed in can be it. */
const NONE: unique symbol = Symbol("none");

/**
 * A map for what is mostly empty or holds one entry: that one is kept in the object itself, and only a second
 * one makes a real `Map`. 48 bytes where a `Map` takes 184, which counts where a thousand streams wait with
 * a dozen tables each. Keys must be strings, `undefined` or objects: it compares by identity.
 *
 * Entries keep the order in which they came, as in a `Map`.
 */
export class SmallMap<Key, Value> {
  #key: Key | typeof NONE = NONE;
  #value: Value | undefined;
  #map: Map<Key, Value> | undefined;

  /** How many entries there are. */
  get size(): number {
    return this.#map === undefined ? Number(this.#key !== NONE) : this.#map.size;
  }

  has(key: Key): boolean {
    return this.#map === undefined ? this.#key === key : this.#map.has(key);
  }

  get(key: Key): Value | undefined {
    if (this.#map !== undefined) return this.#map.get(key);
    return this.#key === key ? this.#value : undefined;
  }

  set(key: Key, value: Value): void {
    if (this.#map !== undefined) {
      this.#map.set(key, value);
    } else if (this.#key === NONE || this.#key === key) {
      this.#key = key;
      this.#value = value;
    } else {
      this.#map = new Map([
        [this.#key, this.#value as Value],
        [key, value],
      ]);
      this.#key = NONE;
      this.#value = undefined;
    }
  }

  /** Whether there was an entry to take out. */
  delete(key: Key): boolean {
    if (this.#map !== undefined) return this.#map.delete(key);
    if (this.#key !== key) return false;
    this.clear();
    return true;
  }

  clear(): void {
    this.#key = NONE;
    this.#value = undefined;
    this.#map = undefined;
  }

  keys(): Iterable<Key> {
    if (this.#map !== undefined) return this.#map.keys();
    return this.#key === NONE ? [] : [this.#key];
  }

  values(): Iterable<Value> {
    if (this.#map !== undefined) return this.#map.values();
    return this.#key === NONE ? [] : [this.#value as Value];
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    if (this.#map !== undefined) return this.#map.entries();
    const entries: [Key, Value][] = this.#key === NONE ? [] : [[this.#key, this.#value as Value]];
    return entries.values();
  }
}
