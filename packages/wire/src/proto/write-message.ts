import type { FieldPlan, MessagePlan } from "./plan.js";
import type { WriteState } from "./write-state.js";
import { noteLoss, unencodable, writeText } from "./write-state.js";
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
  path: string,
  skipped: ReadonlySet<string> = NOTHING,
): void {
  if (depth > state.maxDepth) throw unencodable(path, "it is nested too deeply");
  for (const field of plan.fields) {
    const value = object[field.name];
    if (value === undefined) {
      if (field.required) throw unencodable(`${path}.${field.name}`, "it is required");
    } else if (field.kind !== "base") {
      writeField(state, field, value, depth + field.levels, `${path}.${field.name}`);
    }
  }
  if (state.onNote === undefined) return;
  for (const name of Object.keys(object)) {
    if (object[name] !== undefined && !plan.names.has(name) && !skipped.has(name)) {
      noteLoss(state, "unknown-member", `${path}.${name}`);
    }
  }
}
const NOTHING: ReadonlySet<string> = new Set();

function writeField(
  state: WriteState,
  field: FieldPlan,
  value: unknown,
  depth: number,
  path: string,
): void {
  if (!field.repeated) {
    writeOne(state, field, value, depth, path);
    return;
  }
  if (!Array.isArray(value)) throw unencodable(path, "it is not a list");
  if (value.length === 0 && !field.required) noteLoss(state, "empty-list", path);
  for (const [index, item] of value.entries()) {
    writeOne(state, field, item, depth, `${path}[${index}]`);
  }
}

function writeOne(
  state: WriteState,
  field: FieldPlan,
  value: unknown,
  depth: number,
  path: string,
): void {
  const { writer } = state;
  switch (field.kind) {
    case "string":
      // A required string has no presence: the empty one is written as nothing.
      if (value === "" && field.required) return;
      writer.uint32(field.tag);
      writeText(state, value, path);
      return;
    case "int64":
      if (!Number.isSafeInteger(value)) throw unencodable(path, "it is not a safe integer");
      writer.uint32(field.tag).int64(value as number);
      return;
    case "bool":
      if (typeof value !== "boolean") throw unencodable(path, "it is not a boolean");
      writer.uint32(field.tag).bool(value);
      return;
    case "enum": {
      const number = typeof value === "string" ? field.spellings.indexOf(value) : -1;
      if (number < 0) throw unencodable(path, "it has no number in protobuf");
      if (number > 0) writer.uint32(field.tag).uint32(number);
      return;
    }
    case "value":
      if (value === null && !field.keepsNull) {
        noteLoss(state, "null-member", path);
        return;
      }
      writer.uint32(field.tag).fork();
      writeValue(state, value, depth, path);
      writer.join();
      return;
    case "struct":
    case "message":
    case "base":
      if (!isWireObject(value)) throw unencodable(path, "it is not an object");
      writer.uint32(field.tag).fork();
      if (field.kind === "struct") writeStruct(state, value, depth, path);
      else writeMessage(state, field.message, value, depth, path);
      writer.join();
  }
}
