import type { JsonObject, JsonValue } from "@countersign/core";
import { CountersignError, isWellFormed } from "@countersign/core";
import "../model/errors.js";
import { MAX_NAME_LENGTH, MAX_PRINCIPAL_LENGTH } from "../model/limits.js";

/** The error of every invalid input; it names the part and its form, never its content. */
export function malformed(
  what: string,
  form?: string,
): CountersignError<"ERR_CAPABILITY_MALFORMED"> {
  const message = `token is malformed: ${what}${form === undefined ? "" : ` (${form})`}`;
  return new CountersignError("ERR_CAPABILITY_MALFORMED", message, { what });
}

/**
 * A JSON object with all required members and no members other than the optional ones.
 *
 * Closed on purpose: an unknown member could be a restriction that is not enforced.
 */
export function readClosed<Value = JsonValue>(
  what: string,
  value: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
): Readonly<Record<string, Value>> {
  const object = readObject<Value>(what, value);
  for (const name of required) if (!Object.hasOwn(object, name)) throw malformed(`${what}.${name}`);
  for (const name of Object.keys(object)) {
    if (!required.includes(name) && !optional.includes(name)) throw malformed(what);
  }
  return object;
}

/** Any JSON object. */
export function readObject<Value = JsonValue>(
  what: string,
  value: unknown,
): Readonly<Record<string, Value>> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw malformed(what);
  return value as Record<string, Value>;
}

/** An own member, or `undefined`. */
export function own<Value>(
  object: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

// Control characters and padding can make one name look like another in a receipt or a console.
const UNSAFE_NAME = /[\p{Cc}]|^\s|\s$/u;

/** A name that people read: bounded, unpadded, without control characters. */
export function readName(what: string, value: unknown): string {
  if (!isName(value)) throw malformed(what);
  return value;
}

/** Whether a value can be the name of an issuer, an agent or a session. */
export function isName(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= MAX_NAME_LENGTH &&
    !UNSAFE_NAME.test(value)
  );
}

/**
 * A principal as access control names it. It may end in a space, because a subject may. It is
 * compared, so it is not normalized.
 */
export function readPrincipal(what: string, value: unknown): string {
  const isPrincipal =
    typeof value === "string" &&
    value !== "" &&
    value.length <= MAX_PRINCIPAL_LENGTH &&
    isWellFormed(value) &&
    !/\p{Cc}/u.test(value);
  if (!isPrincipal) throw malformed(what);
  return value;
}

/** An integer of at least `least`. */
export function readInteger(what: string, value: unknown, least: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least) {
    throw malformed(what);
  }
  return value;
}

/** A list of at most `most` items. */
export function readList<Item = JsonValue>(
  what: string,
  value: unknown,
  most: number,
): readonly Item[] {
  if (!Array.isArray(value) || value.length > most) throw malformed(what);
  return value as readonly Item[];
}

/** Freezes one of our own values recursively. */
export function deepFreeze<T extends JsonValue | JsonObject>(value: T): T {
  if (value !== null && typeof value === "object") {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}
