import { ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** The own member when it is a string. */
export function textMember(value: unknown, key: string): string | undefined {
  const found = ownMember(value, key);
  return typeof found === "string" ? found : undefined;
}

/** The own member when it is a list, else an empty one. */
export function listMember(value: unknown, key: string): readonly JsonValue[] {
  const found = ownMember(value, key);
  return Array.isArray(found) ? found : [];
}
