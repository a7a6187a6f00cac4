import type { JsonObject } from "@countersign/core";
import { eventPosition } from "./positions.js";

/** Types whose event holds protocol objects below it, begins a run, or is retired. */
const LOOK_CLOSER = new Set([
  "RUN_STARTED",
  "RUN_FINISHED",
  "RUN_ERROR",
  "TOOL_CALL_RESULT",
  "MESSAGES_SNAPSHOT",
  "SUBAGENT_FINISHED",
  "THINKING_START",
  "THINKING_END",
  "THINKING_TEXT_MESSAGE_START",
  "THINKING_TEXT_MESSAGE_CONTENT",
  "THINKING_TEXT_MESSAGE_END",
]);
const { names: OLD_NAMES } = eventPosition("");

/**
 * Whether an event certainly has nothing to translate. Most events of a stream are deltas, and this
 * saves them the walk.
 */
export function isPlainEvent(event: JsonObject): boolean {
  const type = event["type"];
  if (typeof type !== "string" || LOOK_CLOSER.has(type)) return false;
  for (const key of Object.keys(event)) {
    const value = event[key];
    if (value === null || OLD_NAMES.has(key)) return false;
    if (key === "timestamp" && !Number.isSafeInteger(value)) return false;
  }
  return true;
}
