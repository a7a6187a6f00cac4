import type { FieldPlan, MessagePlan } from "./plan.js";
import type { WriteState } from "./write-state.js";
import { noteLoss, unencodableHere, writeText } from "./write-state.js";
import { writeStruct, writeValue } from "./write-value.js";

/** An object in the shape of its protobuf message. */
export type WireObject = Readonly<Record<string, unknown>>;

/** Whether the value can be the object of a message. */
export function isWireObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Writes the members of an object as the fields of a message, in field order.
 *
 * @param skipped members that were written elsewhere
 */
export function writeMessage(
  state: WriteState,
  plan: MessagePlan,
  object: WireObject,
  depth: number,
  skipped: ReadonlySet<string> = NOTHING,
): void {
  if (depth > state.maxDepth) throw unencodableHere(state, "it is nested too deeply");
  for (const field of plan.fields) {
    const value = object[field.name];
    if (field.kind === "base" || (value === undefined && !field.required)) continue;
    state.path.push(field.name);
    if (value === undefined) throw unencodableHere(state, "it is required");
    writeField(state, field, value, depth + field.levels);
    state.path.pop();
  }
  if (state.onNote !== undefined) noteUnknown(state, plan, object, skipped);
}
const NOTHING: ReadonlySet<string> = new Set();

function noteUnknown(
  state: WriteState,
  plan: MessagePlan,
  object: WireObject,
  skipped: ReadonlySet<string>,
): void {
  for (const name of Object.keys(object)) {
    if (object[name] === undefined || plan.names.has(name) || skipped.has(name)) continue;
    state.path.push(name);
    noteLoss(state, "unknown-member");
    state.path.pop();
  }
}

function writeField(state: WriteState, field: FieldPlan, value: unknown, depth: number): void {
  if (!field.repeated) {
    writeOne(state, field, value, depth);
    return;
  }
  if (!Array.isArray(value)) throw unencodableHere(state, "it is not a list");
  if (value.length === 0 && !field.required) noteLoss(state, "empty-list");
  for (let index = 0; index < value.length; index += 1) {
    state.path.push(index);
    writeOne(state, field, value[index], depth);
    state.path.pop();
  }
}

function writeOne(state: WriteState, field: FieldPlan, value: unknown, depth: number): void {
  const { writer } = state;
  switch (field.kind) {
    case "string":
      // A required string has no presence: the empty one is written as nothing.
      if (value === "" && field.required) return;
      writer.uint32(field.tag);
      writeText(state, value);
      return;
    case "int64":
      if (!Number.isSafeInteger(value)) throw unencodableHere(state, "it is not a safe integer");
      writer.uint32(field.tag).int64(value as number);
      return;
    case "bool":
      if (typeof value !== "boolean") throw unencodableHere(state, "it is not a boolean");
      writer.uint32(field.tag).bool(value);
      return;
    case "enum": {
      const number = typeof value === "string" ? field.spellings.indexOf(value) : -1;
      if (number < 0) throw unencodableHere(state, "it has no number in protobuf");
      if (number > 0) writer.uint32(field.tag).uint32(number);
      return;
    }
    case "value":
      if (value === null && !field.keepsNull) {
        noteLoss(state, "null-member");
        return;
      }
      writer.uint32(field.tag).fork();
      writeValue(state, value, depth);
      writer.join();
      return;
    case "struct":
    case "message":
    case "base":
      if (!isWireObject(value)) throw unencodableHere(state, "it is not an object");
      writer.uint32(field.tag).fork();
      if (field.kind === "struct") writeStruct(state, value, depth);
      else writeMessage(state, field.message, value, depth);
      writer.join();
  }
}
