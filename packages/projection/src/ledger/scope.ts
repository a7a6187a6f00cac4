import { isWellFormed } from "@countersign/core";

/** What a ledger event is about: the conversation, session, realm or artifact, here or in another system. */
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

/** Half a surrogate pair has no percent-encoding; a part without text would merge two scopes. */
function isPart(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isWellFormed(value);
}
