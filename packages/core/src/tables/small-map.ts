/** Represents "no key": no caller can pass this symbol. */
const NONE: unique symbol = Symbol("none");
/**
 * Up to this many entries a linear search is as fast as a hash table, and a list a third of its
 * size.
 */
const FEW = 8;

/** Alternating keys and values. */
type Pairs<Key, Value> = readonly (Key | Value)[];

/**
 * A map for tables that are mostly empty or hold a few entries. The first entry is stored in the
 * object itself, a few are an array of exactly their length, and only more use a real `Map`. It
 * takes 48 bytes, or 130 for three entries, where a `Map` takes 230: this matters when a thousand
 * streams have a dozen tables each. Keys must be strings, `undefined` or objects: it compares by
 * identity.
 *
 * Entries keep their insertion order, as in a `Map`.
 */
export class SmallMap<Key, Value> {
  #key: Key | typeof NONE = NONE;
  #value: Value | undefined;
  /** All entries, once there are several. */
  #several: Pairs<Key, Value> | Map<Key, Value> | undefined;

  /** The number of entries. */
  get size(): number {
    const several = this.#several;
    if (several === undefined) return Number(this.#key !== NONE);
    return several instanceof Map ? several.size : several.length / 2;
  }

  has(key: Key): boolean {
    const several = this.#several;
    if (several === undefined) return this.#key === key;
    return several instanceof Map ? several.has(key) : placeOf(several, key) !== -1;
  }

  get(key: Key): Value | undefined {
    const several = this.#several;
    if (several === undefined) return this.#key === key ? this.#value : undefined;
    if (several instanceof Map) return several.get(key);
    const place = placeOf(several, key);
    return place === -1 ? undefined : (several[place + 1] as Value);
  }

  set(key: Key, value: Value): void {
    const several = this.#several;
    if (several instanceof Map) {
      several.set(key, value);
    } else if (several !== undefined) {
      this.#several = added(several, key, value);
    } else if (this.#key === NONE || this.#key === key) {
      this.#key = key;
      this.#value = value;
    } else {
      this.#several = [this.#key, this.#value as Value, key, value];
      this.#key = NONE;
      this.#value = undefined;
    }
  }

  /** Returns whether an entry was deleted. */
  delete(key: Key): boolean {
    const several = this.#several;
    if (several instanceof Map) return several.delete(key);
    const place = several === undefined ? Number(this.#key === key) - 1 : placeOf(several, key);
    if (place === -1) return false;
    if (several === undefined) this.clear();
    else this.#several = several.toSpliced(place, 2);
    return true;
  }

  clear(): void {
    this.#key = NONE;
    this.#value = undefined;
    this.#several = undefined;
  }

  keys(): Iterable<Key> {
    const several = this.#several;
    return several instanceof Map ? several.keys() : this.#entries().map(([key]) => key);
  }

  values(): Iterable<Value> {
    const several = this.#several;
    return several instanceof Map ? several.values() : this.#entries().map(([, value]) => value);
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    const several = this.#several;
    return several instanceof Map ? several.entries() : this.#entries().values();
  }

  /** The entries while they are few. */
  #entries(): [Key, Value][] {
    if (this.#key !== NONE) return [[this.#key, this.#value as Value]];
    const pairs = (this.#several ?? []) as Pairs<Key, Value>;
    const entries: [Key, Value][] = [];
    for (let place = 0; place < pairs.length; place += 2) {
      entries.push([pairs[place] as Key, pairs[place + 1] as Value]);
    }
    return entries;
  }
}

function placeOf<Key, Value>(pairs: Pairs<Key, Value>, key: Key): number {
  for (let place = 0; place < pairs.length; place += 2) if (pairs[place] === key) return place;
  return -1;
}

function added<Key, Value>(
  pairs: Pairs<Key, Value>,
  key: Key,
  value: Value,
): Pairs<Key, Value> | Map<Key, Value> {
  const place = placeOf(pairs, key);
  if (place !== -1) return pairs.with(place + 1, value);
  // Copied instead of pushed to: a growing array allocates room for seventeen at once.
  if (pairs.length < 2 * FEW) return [...pairs, key, value];
  const map = new Map<Key, Value>();
  for (let at = 0; at < pairs.length; at += 2) map.set(pairs[at] as Key, pairs[at + 1] as Value);
  return map.set(key, value);
}
