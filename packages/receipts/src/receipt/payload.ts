import type { JsonValue } from "@countersign/core";
import { canonicalJson, isJsonObject, sha256Hex } from "@countersign/core";

/** Lower-case hex SHA-256 of the canonical JSON of a payload. */
export function payloadHash(payload: JsonValue): string {
  return sha256Hex(canonicalJson(payload));
}

/**
 * The payload of an event: the `payload` member of the Chio envelope (recognised by its `event_id`
 * and `payload`), and the whole event for a native AG-UI event, which has no such member.
 */
export function eventPayload(event: JsonValue): JsonValue {
  if (!isJsonObject(event)) return event;
  const enveloped = Object.hasOwn(event, "event_id") && Object.hasOwn(event, "payload");
  return enveloped ? (event["payload"] ?? null) : event;
}
