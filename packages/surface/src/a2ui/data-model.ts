import { isJsonObject, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** Takes one write back. */
export type Revert = () => void;

/** Names that the official model refuses: they would reach a prototype. */
const FORBIDDEN: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const INDEX = /^(?:0|[1-9]\d*)$/;
/** A longer list would be mostly holes. */
const MAX_GAP = 1_000;

/**
 * The segments of a data path; undefined when the official model refuses it. Empty segments are
 * dropped, as renderers do. A2UI 0.8 also separates by dots and brackets and has no escapes.
 */
export function dataSegments(path: string, isLegacy: boolean): string[] | undefined {
  if (isLegacy) {
    const dotted = path.replaceAll(/\[(\d+)\]/g, ".$1");
    return dotted.split(/[./]/).filter((segment) => segment !== "");
  }
  const segments: string[] = [];
  for (const raw of path.split("/")) {
    if (raw === "") continue;
    const segment = raw.includes("~")
      ? raw.replaceAll(/~([01])/g, (_, digit: string) => (digit === "1" ? "/" : "~"))
      : raw;
    if (FORBIDDEN.has(segment)) return undefined;
    segments.push(segment);
  }
  return segments;
}

/** The data of one surface: plain JSON of its own, changed in place, each change revertible. */
export class DataModel {
  #root: JsonValue | undefined = {};
  /** JSON values in it. */
  values = 0;
  /** Characters of its JSON, about. */
  length = 0;

  readonly #isLegacy: boolean;

  /** @param isLegacy A2UI 0.8: missing containers are objects, and replace other values */
  constructor(isLegacy: boolean) {
    this.#isLegacy = isLegacy;
  }

  get root(): JsonValue | undefined {
    return this.#root;
  }

  read(segments: readonly string[]): JsonValue | undefined {
    let current = this.#root;
    for (const segment of segments) {
      if (Array.isArray(current)) current = INDEX.test(segment) ? current[+segment] : undefined;
      else if (isJsonObject(current) && Object.hasOwn(current, segment)) current = current[segment];
      else return undefined;
    }
    return current;
  }

  /**
   * Writes a value that belongs to the model from now on; `undefined` removes it.
   *
   * @returns how to take it back; undefined when renderers refuse the write
   */
  write(segments: readonly string[], value: JsonValue | undefined): Revert | undefined {
    const added = measure(value);
    const counted = { values: this.values, length: this.length };
    if (segments.length === 0) {
      const before = this.#root;
      this.#root = value;
      Object.assign(this, added);
      return () => {
        this.#root = before;
        Object.assign(this, counted);
      };
    }
    const reverts: Revert[] = [() => void Object.assign(this, counted)];
    const revertAll = (): void => {
      for (const revert of reverts.toReversed()) revert();
    };
    if (this.#root === undefined || this.#root === null) {
      const before = this.#root;
      this.#root = {};
      reverts.push(() => (this.#root = before));
    }
    let current: JsonValue | undefined = this.#root;
    for (const [index, segment] of segments.entries()) {
      if (!isContainer(current)) break;
      if (Array.isArray(current) && (!INDEX.test(segment) || +segment > current.length + MAX_GAP)) {
        current = undefined;
        break;
      }
      const isLast = index === segments.length - 1;
      const holes = Array.isArray(current) ? Math.max(0, +segment - current.length) : 0;
      this.values += holes;
      this.length += 4 * holes;
      const known: JsonValue | undefined = Array.isArray(current)
        ? current[+segment]
        : Object.hasOwn(current, segment)
          ? current[segment]
          : undefined;
      if (isLast) {
        const replaced = measure(known);
        this.values += added.values - replaced.values;
        this.length += added.length - replaced.length;
        reverts.push(put(current, segment, value));
        return revertAll;
      }
      const isMissing = known === undefined || known === null;
      if (isMissing || (this.#isLegacy && !isContainer(known))) {
        const isList = !this.#isLegacy && INDEX.test(segments[index + 1] ?? "");
        const made: JsonValue = isList ? [] : {};
        this.values += known === null ? 0 : 1;
        this.length += 4;
        reverts.push(put(current, segment, made));
        current = made;
      } else current = known;
    }
    revertAll();
    return undefined;
  }
}

function isContainer(value: JsonValue | undefined): value is JsonObject | JsonValue[] {
  return typeof value === "object" && value !== null;
}

function put(
  container: JsonObject | JsonValue[],
  segment: string,
  value: JsonValue | undefined,
): Revert {
  if (Array.isArray(container)) {
    const { length } = container;
    const before = container[+segment];
    while (container.length < +segment) container.push(null);
    container[+segment] = value ?? null;
    return () => {
      if (+segment < length && before !== undefined) container[+segment] = before;
      container.length = length;
    };
  }
  const had = Object.hasOwn(container, segment);
  const before = container[segment];
  if (value === undefined) delete container[segment];
  else setMember(container, segment, value);
  return () => {
    if (had && before !== undefined) setMember(container, segment, before);
    else delete container[segment];
  };
}

/** JSON values in a value, itself included, and its characters, about; of a larger one at least so many values. */
export function measure(
  value: JsonValue | undefined,
  maxValues = Infinity,
): { values: number; length: number } {
  let values = 0;
  let length = 0;
  const open: JsonValue[] = value === undefined ? [] : [value];
  for (let next = open.pop(); next !== undefined && values < maxValues; next = open.pop()) {
    values += 1;
    length += typeof next === "string" ? next.length + 2 : 4;
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else {
      for (const [key, inner] of Object.entries(next)) {
        length += key.length + 3;
        open.push(inner);
      }
    }
  }
  return { values, length };
}

/** Deeper values are refused; parsed JSON is at most 64 deep. */
const MAX_VALUE_DEPTH = 100;

/**
 * A copy of a value, which the model may change.
 *
 * @throws TypeError when it is nested too deep
 */
export function copyOf(value: JsonValue, depth = 0): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_VALUE_DEPTH) throw new TypeError("the data is nested too deep");
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1));
  const copy: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) setMember(copy, key, copyOf(inner, depth + 1));
  return copy;
}
