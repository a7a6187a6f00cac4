import { ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** The own member when it is a string. */
export function stringMember(value: JsonValue | undefined, name: string): string | undefined {
  const member = ownMember(value, name);
  return typeof member === "string" ? member : undefined;
}
