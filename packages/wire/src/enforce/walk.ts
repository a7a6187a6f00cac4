import { isJsonObject, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Field, Shape, Union, ValueSpec } from "../model/field.js";
import { malformed } from "./errors.js";
import { NoteList, childPath } from "./note.js";
import type { Removal } from "./note.js";
import { isPointer } from "./pointer.js";

/**
 * The table, interpreted: removes what is unknown, notes it, and throws on the first malformed value.
 *
 * This is the careful half. Most events never come here, because the emitted predicates in `generated/clean.ts`
 * have already said that there is nothing to remove and nothing to refuse.
 */
export class Walk {
  readonly notes = new NoteList();
  readonly #subject: string;
  readonly #onRemoved: ((removal: Removal) => void) | undefined;

  constructor(subject: string, onRemoved?: (removal: Removal) => void) {
    this.#subject = subject;
    this.#onRemoved = onRemoved;
  }

  /** The value without its unknown material: the same object when there was none. */
  object(shape: Shape, value: JsonObject, path: string, tag?: string): JsonObject {
    const { fields, open, required } = shape;
    const result: JsonObject = {};
    let changed = false;
    for (const key of Object.keys(value)) {
      const child = value[key] as JsonValue;
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field === undefined || isAlone(field, value)) {
        if (field === undefined && (key === tag || open)) {
          setMember(result, key, child);
        } else {
          const defined = [...Object.keys(fields), ...(tag === undefined ? [] : [tag])];
          this.#remove({ kind: "unknownProperty", path: childPath(path, key), key, defined });
          changed = true;
        }
        continue;
      }
      const kept = this.#field(field, child, path, key);
      if (kept !== undefined) result[key] = kept;
      changed ||= kept !== child;
    }
    for (const key of required) {
      if (!Object.hasOwn(value, key)) this.#refuse(fields[key]?.spec, undefined, path, key);
    }
    return changed ? result : value;
  }

  /** Undefined where the field is to be left out. The path is only made when something needs it. */
  #field(field: Field, value: JsonValue, path: string, key: string): JsonValue | undefined {
    const { spec, whenNull } = field;
    if (value === null) {
      if (whenNull === "data") return value;
      if (whenNull === "fatal") this.#refuse(spec, value, path, key);
      this.notes.add("nullOmitted", childPath(path, key));
      return undefined;
    }
    if (isLeaf(spec, value)) return value;
    if (!field.required && isUnrecognised(spec, value)) {
      this.#remove({ kind: "unknownMember", path: childPath(path, key) });
      return undefined;
    }
    return this.#value(spec, value, childPath(path, key));
  }

  #remove(removal: Removal): void {
    this.notes.add(removal.kind, removal.path);
    this.#onRemoved?.(removal);
  }

  #refuse(
    spec: ValueSpec | undefined,
    value: JsonValue | undefined,
    path: string,
    key: string,
  ): never {
    const expected = spec === undefined ? "a value" : expectation(spec);
    throw malformed(this.#subject, childPath(path, key), expected, value);
  }

  #value(spec: ValueSpec, value: JsonValue, path: string): JsonValue {
    switch (spec.kind) {
      case "shape":
        if (!isJsonObject(value)) break;
        return this.object(spec, value, path);
      case "union": {
        if (!isJsonObject(value)) break;
        const member = memberOf(spec, value);
        if (member === undefined) break;
        return this.object(member, value, path, spec.tag);
      }
      case "list":
        if (!Array.isArray(value)) break;
        return this.#list(spec.element, spec.minimum, value, path);
      case "stringOrList":
        if (typeof value === "string") return value;
        if (!Array.isArray(value)) break;
        return this.#list(spec.element, 0, value, path);
      default:
        if (isLeaf(spec, value)) return value;
    }
    throw malformed(this.#subject, path, expectation(spec), value);
  }

  #list(element: ValueSpec, minimum: number, list: JsonValue[], path: string): JsonValue[] {
    const result: JsonValue[] = [];
    let changed = false;
    for (const [index, entry] of list.entries()) {
      const entryPath = childPath(path, index);
      if (isUnrecognised(element, entry)) {
        this.#remove({ kind: "unknownMember", path: entryPath });
        changed = true;
        continue;
      }
      const kept = this.#value(element, entry, entryPath);
      changed ||= kept !== entry;
      result.push(kept);
    }
    if (result.length < minimum) {
      throw malformed(this.#subject, path, `a list of at least ${minimum}`, list);
    }
    return changed ? result : list;
  }
}

/** Whether the field that this one says something about is missing. */
function isAlone({ beside }: Field, value: JsonObject): boolean {
  return beside !== undefined && !Object.hasOwn(value, beside);
}

function memberOf(union: Union, value: JsonObject): Shape | undefined {
  const tag = Object.hasOwn(value, union.tag) ? value[union.tag] : undefined;
  return typeof tag === "string" && Object.hasOwn(union.members, tag)
    ? union.members[tag]
    : undefined;
}

/**
 * Whether a value is an object of a union member we do not know, or contains one where it cannot do
 * without: then it goes whole, whatever else is wrong inside it. A non-object is malformed instead.
 */
function isUnrecognised(spec: ValueSpec, value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  if (spec.kind === "union") {
    const member = memberOf(spec, value);
    return member === undefined || isUnrecognised(member, value);
  }
  if (spec.kind !== "shape") return false;
  return Object.keys(spec.fields).some((key) => {
    const field = spec.fields[key] as Field;
    return (
      field.required &&
      Object.hasOwn(value, key) &&
      isUnrecognised(field.spec, value[key] as JsonValue)
    );
  });
}

function isLeaf(spec: ValueSpec, value: JsonValue): boolean {
  switch (spec.kind) {
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value) && (value as number) >= spec.minimum;
    case "enum":
      return typeof value === "string" && spec.values.includes(value);
    case "pointer":
      return typeof value === "string" && isPointer(value);
    case "object":
      return isJsonObject(value);
    default:
      return spec.kind === "json";
  }
}

function expectation(spec: ValueSpec): string {
  switch (spec.kind) {
    case "integer":
      return spec.minimum === 0 ? "a non-negative safe integer" : "a safe integer";
    case "enum":
      return spec.values.map((value) => `"${value}"`).join(" or ");
    case "pointer":
      return "a JSON pointer";
    case "json":
      return "a value";
    case "list":
      return "a list";
    case "stringOrList":
      return "a string or a list";
    case "string":
    case "boolean":
      return `a ${spec.kind}`;
    default:
      return "an object";
  }
}
