import { CountersignError, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { WireType } from "@bufbuild/protobuf/wire";
import type { ReadState } from "./read-state.js";
import {
  checkDepth,
  countObject,
  malformed,
  offsetIn,
  readEnd,
  readText,
  skipUnknown,
  wrongWireType,
} from "./read-state.js";

type ValueProblem = "not-finite" | "no-kind" | "duplicate-key";

function badValue(state: ReadState, reason: ValueProblem, at: number): CountersignError {
  return new CountersignError(
    "ERR_PROTO_VALUE",
    `a protobuf Value is not a JSON value: ${reason}`,
    {
      offset: offsetIn(state, at),
      reason,
    },
  );
}

const KIND_WIRE_TYPES: readonly (WireType | undefined)[] = [
  undefined,
  WireType.Varint, // null
  WireType.Bit64, // number
  WireType.LengthDelimited, // string
  WireType.Varint, // boolean
  WireType.LengthDelimited, // object
  WireType.LengthDelimited, // list
];

/**
 * Reads a `google.protobuf.Value` up to `end`. A second kind replaces the first and a second object
 * or list merges into it, as protobuf says for a repeated singular field.
 *
 * @param current what earlier occurrences of the same field gave
 */
export function readValue(
  state: ReadState,
  end: number,
  current: JsonValue | undefined,
  depth: number,
): JsonValue {
  const { reader } = state;
  const start = reader.pos;
  let value = current;
  while (reader.pos < end) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    const expected = KIND_WIRE_TYPES[number];
    if (expected === undefined) {
      skipUnknown(state, "google.protobuf.Value", number, wireType, at);
      continue;
    }
    if (wireType !== expected) throw wrongWireType(state, "google.protobuf.Value", number, at);
    if (number === 3) value = readText(state, end);
    else if (number === 2) {
      value = reader.double();
      if (!Number.isFinite(value)) throw badValue(state, "not-finite", at);
    } else if (number === 5) {
      const previous = typeof value === "object" && !Array.isArray(value) ? value : null;
      value = readStruct(state, readEnd(state, end), previous ?? undefined, depth);
    } else if (number === 6) {
      const previous = Array.isArray(value) ? value : undefined;
      value = readList(state, readEnd(state, end), previous, depth);
    } else if (number === 4) value = reader.bool();
    else {
      reader.int32();
      value = null;
    }
  }
  if (reader.pos !== end) throw malformed(state);
  if (value === undefined) throw badValue(state, "no-kind", start);
  return value;
}

/**
 * Reads a `google.protobuf.Struct` up to `end`. An earlier occurrence of the field is merged: its
 * members are replaced one by one, as protobuf says for maps.
 */
export function readStruct(
  state: ReadState,
  end: number,
  earlier: JsonObject | undefined,
  depth: number,
): JsonObject {
  const { reader } = state;
  checkDepth(state, depth);
  countObject(state);
  const object: JsonObject = {};
  while (reader.pos < end) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    if (number !== 1) {
      skipUnknown(state, "google.protobuf.Struct", number, wireType, at);
      continue;
    }
    if (wireType !== WireType.LengthDelimited) {
      throw wrongWireType(state, "google.protobuf.Struct", number, at);
    }
    readEntry(state, readEnd(state, end), object, depth + 1, at);
  }
  if (reader.pos !== end) throw malformed(state);
  if (earlier === undefined) return object;
  for (const [key, value] of Object.entries(object)) setMember(earlier, key, value);
  return earlier;
}

function readEntry(
  state: ReadState,
  end: number,
  object: JsonObject,
  depth: number,
  at: number,
): void {
  const { reader } = state;
  let key = "";
  let value: JsonValue | undefined;
  while (reader.pos < end) {
    const fieldAt = reader.pos;
    const [number, wireType] = reader.tag();
    if (number > 2) {
      skipUnknown(state, "google.protobuf.Struct.FieldsEntry", number, wireType, fieldAt);
      continue;
    }
    if (wireType !== WireType.LengthDelimited) {
      throw wrongWireType(state, "google.protobuf.Struct.FieldsEntry", number, fieldAt);
    }
    if (number === 1) key = readText(state, end);
    else value = readValue(state, readEnd(state, end), value, depth);
  }
  if (reader.pos !== end) throw malformed(state);
  if (value === undefined) throw badValue(state, "no-kind", at);
  // Strict JSON refuses an object with a repeated key, so the same object is refused in both forms.
  if (Object.hasOwn(object, key)) throw badValue(state, "duplicate-key", at);
  setMember(object, key, value);
}

function readList(
  state: ReadState,
  end: number,
  current: JsonValue[] | undefined,
  depth: number,
): JsonValue[] {
  const { reader } = state;
  checkDepth(state, depth);
  if (current === undefined) countObject(state);
  const list: JsonValue[] = current ?? [];
  while (reader.pos < end) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    if (number !== 1) {
      skipUnknown(state, "google.protobuf.ListValue", number, wireType, at);
      continue;
    }
    if (wireType !== WireType.LengthDelimited) {
      throw wrongWireType(state, "google.protobuf.ListValue", number, at);
    }
    list.push(readValue(state, readEnd(state, end), undefined, depth + 1));
  }
  if (reader.pos !== end) throw malformed(state);
  return list;
}
