import type { JsonObject, JsonValue } from "@countersign/core";
import { stoppedPath, toPointer } from "../classify/stopped-path.js";

/** Maximum number of patch operations that are evaluated one by one. */
const MAX_OPERATIONS = 64;

/**
 * The state path that a rule blocked, found by evaluating each part alone; undefined for events
 * without state. Only a capture has it: receipts contain no payloads.
 * @param ask returns the rule that blocks such an event, or undefined
 */
export function blockedPath(
  event: JsonObject,
  rule: string,
  ask: (event: JsonObject) => string | undefined,
): string | undefined {
  const { delta, snapshot, state } = event;
  if (event["type"] === "STATE_DELTA" && Array.isArray(delta)) {
    const operation = delta
      .slice(0, MAX_OPERATIONS)
      .find((one) => ask({ ...event, delta: [one] }) === rule);
    return textOf(operation, "path");
  }
  if (event["type"] === "STATE_SNAPSHOT" && snapshot !== undefined) {
    const isStopped = (part: JsonValue): boolean => ask({ ...event, snapshot: part }) === rule;
    return pointerOrRoot(stoppedPath(snapshot, isStopped));
  }
  if (event["type"] !== undefined || state === undefined) return undefined;
  const { threadId = "", runId = "" } = event;
  const asRequest = (part: JsonValue): JsonObject => ({
    threadId,
    runId,
    messages: [],
    state: part,
  });
  if (ask(asRequest(state)) !== rule) return undefined;
  const path = stoppedPath(state, (part) => ask(asRequest(part)) === rule);
  return toPointer(["state", ...path]);
}

function pointerOrRoot(path: readonly string[]): string {
  return path.length === 0 ? "/" : toPointer(path);
}

function textOf(value: JsonValue | undefined, key: string): string | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const found = value[key];
  return typeof found === "string" ? found : undefined;
}
