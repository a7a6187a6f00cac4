import { CountersignError, isWellFormed } from "@countersign/core";
import "../base/errors.js";
import { isScopeRef, scopeKey } from "./scope.js";
import type { ScopeRef } from "./scope.js";

/** The authority under which the runtime acted. Never leaves the runtime. */
export type EffectAuthorityRef = {
  readonly authorityId: string;
  readonly authorityClass: string;
  readonly version?: string;
};

/**
 * One fact of an append-only ledger. `payload` belongs to the owner; only its projector may read
 * it.
 */
export type LedgerEvent = {
  /** Ascending over the ledger, from 1. */
  readonly id: number;
  /** Milliseconds since the epoch; may have a fraction. */
  readonly ts: number;
  readonly kind: string;
  readonly scopeRef: ScopeRef;
  readonly factOwnerRef: string;
  readonly effectAuthorityRef: EffectAuthorityRef;
  readonly payload: unknown;
};

declare const recorded: unique symbol;
/** A validated ledger event; only `decodeLedgerEvent` creates one. */
export type RecordedEvent = LedgerEvent & {
  readonly scopeKey: string;
  readonly [recorded]: true;
};

const MAX_NAME = 1024;

/**
 * Validates one row of a ledger.
 *
 * @throws CountersignError `ERR_PROJECTION_MALFORMED_EVENT` with the invalid member
 */
export function decodeLedgerEvent(row: unknown): RecordedEvent {
  if (typeof row !== "object" || row === null) throw malformed("");
  const { id, ts, kind, scopeRef, factOwnerRef, effectAuthorityRef, payload } =
    row as Partial<LedgerEvent>;
  if (!Number.isSafeInteger(id) || (id as number) < 1) throw malformed("/id");
  if (typeof ts !== "number" || !Number.isFinite(ts) || ts < 0) throw malformed("/ts");
  if (!isName(kind)) throw malformed("/kind");
  if (!isScopeRef(scopeRef)) throw malformed("/scopeRef");
  if (!isName(factOwnerRef)) throw malformed("/factOwnerRef");
  if (!isAuthority(effectAuthorityRef)) throw malformed("/effectAuthorityRef");
  return Object.freeze({
    id: id as number,
    ts,
    kind,
    scopeRef,
    factOwnerRef,
    effectAuthorityRef,
    payload,
    scopeKey: scopeKey(scopeRef),
  }) as RecordedEvent;
}

/**
 * The integer part of a ledger time, which AG-UI requires; absent when it is not a safe integer.
 */
export function timestampOf(ts: number): number | undefined {
  const milliseconds = Math.trunc(ts);
  return Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

function isName(value: unknown): value is string {
  return (
    typeof value === "string" && value !== "" && value.length <= MAX_NAME && isWellFormed(value)
  );
}

function isAuthority(value: unknown): value is EffectAuthorityRef {
  if (typeof value !== "object" || value === null) return false;
  const { authorityId, authorityClass, version } = value as Record<string, unknown>;
  return (
    typeof authorityId === "string" &&
    typeof authorityClass === "string" &&
    (version === undefined || typeof version === "string")
  );
}

function malformed(path: string): CountersignError {
  return new CountersignError(
    "ERR_PROJECTION_MALFORMED_EVENT",
    path === "" ? "the row is not an object" : `the row has no valid ${path.slice(1)}`,
    { path },
  );
}
