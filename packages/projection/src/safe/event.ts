import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { RecordedEvent } from "../ledger/event.js";
import { safeValueFromUnknown } from "./value.js";
import type { SafeValue } from "./value.js";

/**
 * The public part of an owner's event. It names its source and contains no scope reference, no
 * authority and no payload.
 */
export type SafeLedgerEvent = {
  readonly id: number;
  readonly ts: number;
  readonly kind: string;
  readonly scopeKey: string;
  readonly factOwnerRef: string;
  readonly safePayload?: SafeValue;
};

/**
 * Creates the safe event of a recorded one. The payload is copied; it must be plain JSON.
 *
 * @throws CountersignError `ERR_PROJECTION_UNSAFE_VALUE` when it is not
 */
export function createSafeEvent(source: RecordedEvent, safePayload?: unknown): SafeLedgerEvent {
  const identity = {
    id: source.id,
    ts: source.ts,
    kind: source.kind,
    scopeKey: source.scopeKey,
    factOwnerRef: source.factOwnerRef,
  };
  if (safePayload === undefined) return Object.freeze(identity);
  const copied = safeValueFromUnknown(safePayload);
  if (copied === undefined) {
    throw new CountersignError(
      "ERR_PROJECTION_UNSAFE_VALUE",
      "a safe payload is plain JSON of bounded size",
      { path: "/safePayload" },
    );
  }
  return Object.freeze({ ...identity, safePayload: copied });
}

/**
 * Whether the result of a projector repeats the identity of its source: a projector may not answer
 * for another event.
 */
export function repeatsIdentity(safe: unknown, source: RecordedEvent): safe is SafeLedgerEvent {
  if (typeof safe !== "object" || safe === null) return false;
  const { id, ts, kind, scopeKey, factOwnerRef } = safe as Partial<SafeLedgerEvent>;
  return (
    id === source.id &&
    ts === source.ts &&
    kind === source.kind &&
    scopeKey === source.scopeKey &&
    factOwnerRef === source.factOwnerRef
  );
}
