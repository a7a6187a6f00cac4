import type { JsonObject, JsonValue } from "@countersign/core";
import { celList, celMap } from "@bufbuild/cel";
import type { CelInput } from "@bufbuild/cel";

/**
 * Shows JSON to CEL without copying it: a condition that reads `event.name` converts one string, not a
 * megabyte of state. Whole numbers become CEL ints, so that `size(x) + event.n` has an overload.
 */
export function toCelInput(value: JsonValue): CelInput {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    default:
      if (value === null) return null;
      return Array.isArray(value)
        ? celList(value.map(toCelInput))
        : celMap(new JsonMap(value) as ReadonlyMap<string, CelInput>);
  }
}

class JsonMap implements ReadonlyMap<string, CelInput> {
  readonly #object: JsonObject;

  constructor(object: JsonObject) {
    this.#object = object;
  }

  get size(): number {
    return Object.keys(this.#object).length;
  }

  get(key: string): CelInput | undefined {
    // CEL may ask with a number or a boolean; only own string keys exist here, and never a prototype's.
    if (typeof key !== "string" || !Object.hasOwn(this.#object, key)) return undefined;
    const value = this.#object[key];
    return value === undefined ? undefined : toCelInput(value);
  }

  has(key: string): boolean {
    return typeof key === "string" && Object.hasOwn(this.#object, key);
  }

  forEach(visit: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const key of Object.keys(this.#object)) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  keys(): MapIterator<string> {
    return Object.keys(this.#object).values();
  }

  *values(): MapIterator<CelInput> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }
}
