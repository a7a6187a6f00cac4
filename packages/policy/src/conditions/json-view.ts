import type { JsonObject, JsonValue } from "@countersign/core";
import { celList, celMap } from "@bufbuild/cel";
import type { CelInput } from "@bufbuild/cel";

/**
 * Exposes JSON to CEL without copying it: a condition that reads `event.name` converts one string,
 * not a megabyte of state. Integers become CEL ints, so that `size(x) + event.n` has an overload.
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

/** Members computed on read; they override members of the same name in the object. */
export type Overlay<Source> = ReadonlyMap<string, (source: Source) => JsonValue>;

/**
 * An object with computed members over it. Nothing is copied: a spread cost more than the
 * condition.
 */
export function layered<Source>(
  object: JsonObject,
  overlay: Overlay<Source>,
  source: Source,
): CelInput {
  return celMap(new LayeredMap(object, overlay, source) as ReadonlyMap<string, CelInput>);
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
    // CEL may query with a number or a boolean; only own string keys exist here, never a
    // prototype's.
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
    for (const key of this.keys()) {
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

class LayeredMap<Source> extends JsonMap {
  readonly #overlay: Overlay<Source>;
  readonly #source: Source;

  constructor(object: JsonObject, overlay: Overlay<Source>, source: Source) {
    super(object);
    this.#overlay = overlay;
    this.#source = source;
  }

  override get size(): number {
    return [...this.keys()].length;
  }

  override get(key: string): CelInput | undefined {
    const member = this.#overlay.get(key);
    return member === undefined ? super.get(key) : toCelInput(member(this.#source));
  }

  override has(key: string): boolean {
    return this.#overlay.has(key) || super.has(key);
  }

  override keys(): MapIterator<string> {
    return new Set([...super.keys(), ...this.#overlay.keys()]).values();
  }
}
