import type { JsonValue } from "@countersign/core";

/** The own member of a value that may be anything. */
export function ownMember(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The own member when it is a string. */
export function stringMember(value: JsonValue | undefined, name: string): string | undefined {
  const member = ownMember(value, name);
  return typeof member === "string" ? member : undefined;
}
