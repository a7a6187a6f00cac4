import type { JsonObject, JsonValue } from "@countersign/core";
import type { EventOf } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";

/** Text for a person. Arguments of a call are not: a rule may hold them until they are complete. */
type Delta = EventOf<"TEXT_MESSAGE_CONTENT"> | EventOf<"REASONING_MESSAGE_CONTENT">;

/** A delta with `type`, `messageId` and `delta`, and nothing else. */
export type PlainDelta = JsonObject & Pick<Delta, "type" | "messageId" | "delta">;

const DELTAS: ReadonlySet<JsonValue | undefined> = new Set<Delta["type"]>([
  "TEXT_MESSAGE_CONTENT",
  "REASONING_MESSAGE_CONTENT",
]);

/** Whether a value is a delta of a message with nothing but its text. */
export function isPlainDelta(value: JsonObject): value is PlainDelta {
  if (!DELTAS.has(value["type"])) return false;
  if (typeof value["messageId"] !== "string" || typeof value["delta"] !== "string") return false;
  let others = -3;
  for (const name in value) if (Object.hasOwn(value, name)) others += 1;
  return others === 0;
}

/**
 * Whether a delta differs from the event right before it only in its text, and that event was delivered whole. What translation, schema,
 * order and classification said about that event then holds for this delta, and so do the rules that do not read text. Such an event
 * changes nothing in the state of a stage but counts and texts, and those are kept for continued deltas too.
 *
 * @param before the event before, and the delta that it was decoded from
 */
export function isContinued(
  before: EventContext,
  deltaBefore: PlainDelta | undefined,
  delta: PlainDelta,
): boolean {
  // Another object is a translation of the delta, or an event that was held before it.
  if (!before.canContinue || deltaBefore === undefined || before.event !== deltaBefore)
    return false;
  return delta.messageId === deltaBefore.messageId && delta.type === deltaBefore.type;
}
