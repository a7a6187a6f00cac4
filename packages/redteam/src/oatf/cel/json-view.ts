import type { JsonObject, JsonValue } from "@countersign/core";
import type { CelInput, CelList, CelMap, CelValue } from "@bufbuild/cel";
import type { Meter } from "./meter.js";

// The library recognises its containers by these registered symbols. Its own map reads a member that is
// null as absent, and neither of its containers can count what is read.
const MAP = Symbol.for("@bufbuild/cel/map");
const LIST = Symbol.for("@bufbuild/cel/list");
const CHARACTERS_PER_STEP = 256;

/**
 * Shows JSON to CEL without copying it; each value read costs a step. Whole numbers become CEL ints, so
 * that `message.n + 1` has an overload; the price is that `/` divides as integers.
 */
export function viewJson(value: JsonValue, meter: Meter): CelInput {
  switch (typeof value) {
    case "string":
      meter.spend(1 + value.length / CHARACTERS_PER_STEP);
      return value;
    case "number":
      meter.spend(1);
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case "boolean":
      meter.spend(1);
      return value;
    default:
      meter.spend(1);
      if (value === null) return null;
      return Array.isArray(value)
        ? meteredList(value, (item) => viewJson(item, meter), meter)
        : (new JsonMap(value, meter) as unknown as CelMap);
  }
}

/** A list whose reads are counted. */
export function meteredList<Item>(
  items: readonly Item[],
  view: (item: Item) => CelInput,
  meter: Meter,
): CelList {
  return new MeteredList(items, view, meter) as unknown as CelList;
}

class MeteredList<Item> {
  readonly [LIST] = {};
  readonly #items: readonly Item[];
  readonly #view: (item: Item) => CelInput;
  readonly #meter: Meter;

  constructor(items: readonly Item[], view: (item: Item) => CelInput, meter: Meter) {
    this.#items = items;
    this.#view = view;
    this.#meter = meter;
  }

  get size(): number {
    return this.#items.length;
  }

  get(index: number): CelInput | undefined {
    this.#meter.spend(1);
    const item = index < 0 ? undefined : this.#items[index];
    return item === undefined ? undefined : this.#view(item);
  }

  *values(): IterableIterator<CelInput> {
    for (const item of this.#items) {
      this.#meter.spend(1);
      yield this.#view(item);
    }
  }

  [Symbol.iterator](): IterableIterator<CelInput> {
    return this.values();
  }
}

class JsonMap {
  readonly [MAP] = {};
  readonly #object: JsonObject;
  readonly #meter: Meter;

  constructor(object: JsonObject, meter: Meter) {
    this.#object = object;
    this.#meter = meter;
  }

  get size(): number {
    const { length } = Object.keys(this.#object);
    this.#meter.spend(length);
    return length;
  }

  // Only own names are members: a message cannot lend `constructor` to an expression.
  get(key: CelValue): CelInput | undefined {
    return this.has(key)
      ? viewJson(this.#object[key as string] as JsonValue, this.#meter)
      : undefined;
  }

  has(key: CelValue): boolean {
    this.#meter.spend(1);
    return typeof key === "string" && Object.hasOwn(this.#object, key);
  }

  forEach(visit: (value: CelInput, key: string, map: unknown) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  *entries(): IterableIterator<[string, CelInput]> {
    for (const [key, value] of Object.entries(this.#object)) {
      this.#meter.spend(1);
      yield [key, viewJson(value, this.#meter)];
    }
  }

  *keys(): IterableIterator<string> {
    for (const key of Object.keys(this.#object)) {
      this.#meter.spend(1);
      yield key;
    }
  }

  *values(): IterableIterator<CelInput> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, CelInput]> {
    return this.entries();
  }
}
