import { CountersignError, isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { FieldPlan, MessagePlan } from "./plan.js";
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
import { readStruct, readValue } from "./read-value.js";

/** Makes the object of a message as it is before any field was read. */
export function createMessage(state: ReadState, plan: MessagePlan): JsonObject {
  countObject(state);
  const message: JsonObject = {};
  for (const [name, value] of plan.defaults) message[name] = value;
  return message;
}

/**
 * Reads the fields up to `end` into `target`. Reading a second occurrence into the same target is
 * protobuf's merge: scalars are replaced, lists grow, messages merge.
 *
 * @param depth JSON nesting of `target`
 */
export function readMessage(
  state: ReadState,
  plan: MessagePlan,
  target: JsonObject,
  end: number,
  depth: number,
): void {
  const { reader } = state;
  while (reader.pos < end) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    const field = plan.byNumber[number];
    if (field === undefined) {
      skipUnknown(state, plan.name, number, wireType, at);
      continue;
    }
    if (wireType !== field.wireType) throw wrongWireType(state, plan.name, number, at);
    if (field.arm) refuseOtherArm(state, plan, field, target, at);
    if (field.repeated) {
      const list = target[field.name];
      const item = readField(state, field, undefined, end, depth + field.levels, at);
      if (Array.isArray(list)) list.push(item);
      else target[field.name] = [item];
    } else if (field.kind === "base") {
      state.base ??= createMessage(state, field.message);
      readMessage(state, field.message, state.base, readEnd(state, end), depth);
    } else {
      target[field.name] = readField(
        state,
        field,
        target[field.name],
        end,
        depth + field.levels,
        at,
      );
    }
  }
  if (reader.pos !== end) throw malformed(state);
}

function readField(
  state: ReadState,
  field: FieldPlan,
  current: JsonValue | undefined,
  end: number,
  depth: number,
  at: number,
): JsonValue {
  const { reader } = state;
  switch (field.kind) {
    case "string":
      return readText(state, end);
    case "int64": {
      const number = Number(reader.int64());
      if (!Number.isSafeInteger(number)) throw unsafeInteger(state, field, at);
      return number;
    }
    case "bool":
      return reader.bool();
    case "enum": {
      const number = reader.int32();
      return field.spellings[number] ?? String(number);
    }
    case "value":
      return readValue(state, readEnd(state, end), current, depth);
    case "struct":
      return readStruct(state, readEnd(state, end), asObject(current), depth);
    case "message":
    case "base": {
      checkDepth(state, depth);
      const nested = asObject(current) ?? createMessage(state, field.message);
      readMessage(state, field.message, nested, readEnd(state, end), depth);
      return nested;
    }
  }
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function refuseOtherArm(
  state: ReadState,
  plan: MessagePlan,
  field: FieldPlan,
  target: JsonObject,
  at: number,
): void {
  for (const other of plan.fields) {
    if (other !== field && other.arm && Object.hasOwn(target, other.name)) {
      throw new CountersignError(
        "ERR_PROTO_SEVERAL_ARMS",
        `${plan.name} names more than one alternative`,
        { offset: offsetIn(state, at), message: plan.name },
      );
    }
  }
}

function unsafeInteger(state: ReadState, field: FieldPlan, at: number): CountersignError {
  return new CountersignError(
    "ERR_PROTO_UNSAFE_INTEGER",
    `${field.name} is beyond the exact integers`,
    { offset: offsetIn(state, at), field: field.name },
  );
}
