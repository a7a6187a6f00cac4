import type { Scope } from "./grammar.js";
import { parseScope } from "./grammar.js";

/** The class and target of an event. */
export type ScopeQuery = {
  readonly classification: string;
  readonly componentType?: string | undefined;
  readonly componentId?: string | undefined;
};

/** Whether a scope covers an event. An event without a target needs `*` as component type. */
export function matchesScope(scope: Scope | string, query: ScopeQuery): boolean {
  const { classification, componentType, componentId } = asScope(scope);
  if (classification !== "*" && classification !== query.classification) return false;
  if (componentType !== "*" && componentType !== query.componentType) return false;
  if (componentId === undefined) return true;
  return query.componentType !== undefined && componentId === query.componentId;
}

/** Whether everything the inner scope covers is covered by the outer one. */
export function coversScope(outer: Scope | string, inner: Scope | string): boolean {
  const wide = asScope(outer);
  const narrow = asScope(inner);
  return (
    (wide.classification === "*" || wide.classification === narrow.classification) &&
    (wide.componentType === "*" || wide.componentType === narrow.componentType) &&
    (wide.componentId === undefined || wide.componentId === narrow.componentId)
  );
}

/** The scopes of `inner` that no single scope of `outer` covers; empty when it is a subset. */
export function widenedScopes(outer: readonly string[], inner: readonly string[]): string[] {
  const wide = outer.map(parseScope);
  return inner.filter((text) => {
    const scope = parseScope(text);
    return !wide.some((candidate) => coversScope(candidate, scope));
  });
}

function asScope(scope: Scope | string): Scope {
  return typeof scope === "string" ? parseScope(scope) : scope;
}
