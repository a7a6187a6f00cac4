import { ownMember } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { withoutMembers } from "../json-object.js";
import type { LegacyContext } from "./context.js";

/** Below this a number cannot be milliseconds of our time (1973), above it cannot be seconds (5138). */
const SECONDS_BELOW = 1e11;

const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/u;
const NAIVE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?$/u;

/** A number of seconds or milliseconds as whole milliseconds; undefined when it is neither. */
export function wholeMilliseconds(value: number): number | undefined {
  const milliseconds = Math.floor(value < SECONDS_BELOW ? value * 1000 : value);
  return value >= 0 && Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

/**
 * The timestamp of an older event as the safe integer that 1.0 asks for.
 *
 * Integers stay as they are. A fraction is what `time.time()` gives: seconds below 1e11, milliseconds
 * above. ISO 8601 with a zone is converted; without a zone its instant is unknown, so it is dropped,
 * which costs nothing because arrival order is the only order. Everything else is for enforcement.
 */
export function upgradeTimestamp(event: JsonObject, context: LegacyContext): JsonObject {
  const value = ownMember(event, "timestamp");
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return event;
    return convert(event, wholeMilliseconds(value), context);
  }
  if (typeof value !== "string") return event;
  if (ZONED.test(value)) {
    const instant = Date.parse(value);
    return convert(event, Number.isSafeInteger(instant) ? instant : undefined, context);
  }
  if (!NAIVE.test(value)) return event;
  context.note("timestamp-dropped", "/timestamp");
  return withoutMembers(event, "timestamp");
}

function convert(
  event: JsonObject,
  timestamp: number | undefined,
  context: LegacyContext,
): JsonObject {
  if (timestamp === undefined) return event;
  context.note("timestamp-converted", "/timestamp");
  return { ...event, timestamp };
}
