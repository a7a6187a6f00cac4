import { isWellFormed } from "@countersign/core";

/**
 * The subject of a ledger event: a conversation, session, realm or artifact, local or in another
 * system.
 */
export type ScopeRef =
  | { readonly kind: "realm" | "conversation" | "session" | "artifact"; readonly scopeId: string }
  | { readonly kind: "external"; readonly scopeId: string; readonly systemRef: string };

const LOCAL_KINDS = new Set(["realm", "conversation", "session", "artifact"]);

/** The scope as one string, such as `conversation:demo`; different scopes give different strings. */
export function scopeKey(scope: ScopeRef): string {
  const id = encodePart(scope.scopeId);
  return scope.kind === "external"
    ? `external:${encodePart(scope.systemRef)}:${id}`
    : `${scope.kind}:${id}`;
}

/** Whether a value is a scope reference. */
export function isScopeRef(value: unknown): value is ScopeRef {
  if (typeof value !== "object" || value === null) return false;
  const { kind, scopeId, systemRef } = value as Record<string, unknown>;
  if (!isPart(scopeId)) return false;
  if (kind === "external") return isPart(systemRef);
  return typeof kind === "string" && LOCAL_KINDS.has(kind);
}

function encodePart(text: string): string {
  return encodeURIComponent(text).replaceAll(".", "%2E");
}

/** A lone surrogate has no percent-encoding; an empty part would merge two scopes. */
function isPart(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isWellFormed(value);
}
