import { setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** Plain JSON that may leave the runtime: an owner built it field by field. */
export type SafeValue = JsonValue;

const MAX_DEPTH = 32;
const MAX_PARTS = 100_000;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** The text with every lone surrogate replaced: strict readers reject such JSON. */
export function wellFormed(text: string): string {
  return text.replaceAll(LONE_SURROGATE, "\uFFFD");
}

/**
 * Copies plain JSON, all or nothing: one function, class instance, NaN, cycle or non-portable
 * number makes the whole value `undefined`. The copy shares nothing with its source.
 */
export function safeValueFromUnknown(value: unknown): SafeValue | undefined {
  const budget = { parts: MAX_PARTS };
  try {
    return copy(value, MAX_DEPTH, budget);
  } catch {
    // A getter or a proxy trap threw.
    return undefined;
  }
}

/** Whether a value is an object and not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether every strict reader parses the number to the same value (RFC 7493 §2.2). */
function isPortableNumber(value: number): boolean {
  if (!Number.isFinite(value)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
}

function copy(value: unknown, depth: number, budget: { parts: number }): SafeValue | undefined {
  if (--budget.parts < 0) return undefined;
  switch (typeof value) {
    case "string":
      return wellFormed(value);
    case "boolean":
      return value;
    case "number":
      return isPortableNumber(value) ? value : undefined;
    case "object":
      if (value === null) return null;
      if (depth === 0) return undefined;
      return Array.isArray(value)
        ? copyList(value, depth - 1, budget)
        : copyObject(value, depth - 1, budget);
    default:
      return undefined;
  }
}

function copyList(
  list: readonly unknown[],
  depth: number,
  budget: { parts: number },
): SafeValue | undefined {
  if (list.length > budget.parts) return undefined;
  const result: SafeValue[] = [];
  for (const item of list) {
    const copied = copy(item, depth, budget);
    if (copied === undefined) return undefined;
    result.push(copied);
  }
  return result;
}

function copyObject(
  source: object,
  depth: number,
  budget: { parts: number },
): SafeValue | undefined {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype !== null && prototype !== Object.prototype) return undefined;
  if (Object.getOwnPropertySymbols(source).length > 0) return undefined;
  const result: JsonObject = {};
  for (const [name, member] of Object.entries(source)) {
    const copied = copy(member, depth, budget);
    if (copied === undefined) return undefined;
    setMember(result, wellFormed(name), copied);
  }
  return result;
}
