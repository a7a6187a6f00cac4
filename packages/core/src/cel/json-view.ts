import type { CelInput, CelList, CelMap, CelValue } from "@bufbuild/cel";
import type { JsonObject, JsonValue } from "../json/value.js";
import type { Meter } from "./environment.js";

// The library recognises its containers by these registered symbols. Its own map reads a member that is
// null as absent, and neither of its containers counts reads.
const MAP = Symbol.for("@bufbuild/cel/map");
const LIST = Symbol.for("@bufbuild/cel/list");
const CHARACTERS_PER_STEP = 256;

/** Exposes a JSON value to CEL. */
export type JsonView = (value: JsonValue) => CelInput;

/**
 * Exposes JSON to CEL without copying it: an expression that reads `event.name` converts one string,
 * not a megabyte of state. Each value read costs a step. Integers become CEL ints, so that
 * `message.n + 1` has an overload; the price is that `/` divides as integers.
 */
export function createJsonView(meter: Pick<Meter, "spend">, MapType = JsonMap): JsonView {
  const view: JsonView = (value) => {
    meter.spend(typeof value === "string" ? 1 + value.length / CHARACTERS_PER_STEP : 1);
    if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value !== "object" || value === null) return value;
    return Array.isArray(value)
      ? (new MeteredList(value, view, meter) as unknown as CelList)
      : asCelMap(new MapType(value, view, meter));
  };
  return view;
}

/** The same map, as the type of the library. */
export function asCelMap(map: JsonMap): CelMap {
  return map as unknown as CelMap;
}

/** A list whose reads are counted. */
class MeteredList {
  readonly [LIST] = {};
  readonly #items: readonly JsonValue[];
  readonly #view: JsonView;
  readonly #meter: Pick<Meter, "spend">;

  constructor(items: readonly JsonValue[], view: JsonView, meter: Pick<Meter, "spend">) {
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

/** An object as a CEL map. */
export class JsonMap {
  readonly [MAP] = {};
  readonly #object: JsonObject;
  readonly #view: JsonView;
  readonly #meter: Pick<Meter, "spend">;

  constructor(object: JsonObject, view: JsonView, meter: Pick<Meter, "spend">) {
    this.#object = object;
    this.#view = view;
    this.#meter = meter;
  }

  /** The names of the members; only own names count: a message cannot lend `constructor` to an expression. */
  protected names(): readonly string[] {
    return Object.keys(this.#object);
  }

  get size(): number {
    const { length } = this.names();
    this.#meter.spend(length);
    return length;
  }

  get(key: CelValue): CelInput | undefined {
    this.#meter.spend(1);
    return typeof key === "string" && Object.hasOwn(this.#object, key)
      ? this.#view(this.#object[key] as JsonValue)
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
    for (const key of this.names()) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  *keys(): IterableIterator<string> {
    for (const key of this.names()) {
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
