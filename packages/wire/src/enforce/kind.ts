import type { JsonValue } from "@countersign/core";

/** The kind of the value that was found. Its content never reaches a message. */
export type JsonKind =
  | "nothing"
  | "null"
  | "boolean"
  | "number"
  | "string"
  | "array"
  | "object"
  | "another value";

/** The kind of a value that may also be absent. */
export function kindOf(value: JsonValue | undefined): JsonKind {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
    case "number":
    case "string":
    case "object":
      return typeof value as JsonKind;
    default:
      return "another value";
  }
}
