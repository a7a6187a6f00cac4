import type { WriteState } from "./write-state.js";
import { unencodableHere, writeText } from "./write-state.js";

// Tags of google.protobuf.Value's kinds, and of the one field of Struct, ListValue and a map entry.
const NULL_TAG = 8;
const NUMBER_TAG = 17;
const STRING_TAG = 26;
const BOOLEAN_TAG = 32;
const STRUCT_TAG = 42;
const LIST_TAG = 50;
const ELEMENT_TAG = 10;
const ENTRY_VALUE_TAG = 18;

/** Writes the fields of a `google.protobuf.Value`. */
export function writeValue(state: WriteState, value: unknown, depth: number): void {
  const { writer } = state;
  switch (typeof value) {
    case "string":
      writer.uint32(STRING_TAG);
      writeText(state, value);
      return;
    case "number":
      if (!Number.isFinite(value)) throw unencodableHere(state, "it is not a finite number");
      writer.uint32(NUMBER_TAG).double(value);
      return;
    case "boolean":
      writer.uint32(BOOLEAN_TAG).bool(value);
      return;
    case "object":
      if (value === null) writer.uint32(NULL_TAG).uint32(0);
      else if (Array.isArray(value)) {
        writer.uint32(LIST_TAG).fork();
        writeList(state, value, depth);
        writer.join();
      } else {
        writer.uint32(STRUCT_TAG).fork();
        writeStruct(state, value as Record<string, unknown>, depth);
        writer.join();
      }
      return;
    default:
      throw unencodableHere(state, "it is not a JSON value");
  }
}

/** Writes the fields of a `google.protobuf.Struct`. */
export function writeStruct(
  state: WriteState,
  value: Readonly<Record<string, unknown>>,
  depth: number,
): void {
  checkDepth(state, depth);
  const { writer } = state;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    writer.uint32(ELEMENT_TAG).fork();
    if (key !== "") {
      writer.uint32(ELEMENT_TAG);
      writeText(state, key);
    }
    writer.uint32(ENTRY_VALUE_TAG).fork();
    writeValue(state, member, depth + 1);
    writer.join().join();
  }
}

function writeList(state: WriteState, list: readonly unknown[], depth: number): void {
  checkDepth(state, depth);
  const { writer } = state;
  for (const item of list) {
    writer.uint32(ELEMENT_TAG).fork();
    writeValue(state, item, depth + 1);
    writer.join();
  }
}

function checkDepth(state: WriteState, depth: number): void {
  if (depth > state.maxDepth) throw unencodableHere(state, "it is nested too deeply");
}
