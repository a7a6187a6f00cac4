import { CLASSIFICATION_BIT, isClassification } from "../vocabulary/classification.js";
import { targetByFamily } from "../vocabulary/target.js";
import type { Target } from "../vocabulary/target.js";

/** Maximum number of scopes of one token; further ones grant nothing. */
export const MAX_SCOPES = 1000;

const EVERY_CLASS = 127;

type TypeEntry = { anyId: number; ids: Map<string, number> };

/** The compiled scopes of a token, for queries without allocation. */
export type ScopeSet = {
  /** Whether some scope covers a class (as bit) on a target. */
  covers(bit: number, target: Target | undefined): boolean;
  /** Whether the token has exactly this scope; a wildcard is not enough. */
  hasExactly(scope: string): boolean;
};

const compiled = new WeakMap<readonly string[], ScopeSet>();

/** The compiled form of a token's scopes, kept as long as the array lives. */
export function scopeSetOf(scopes: readonly string[]): ScopeSet {
  let set = compiled.get(scopes);
  if (set === undefined) {
    set = createScopeSet(scopes);
    compiled.set(scopes, set);
  }
  return set;
}

/** Compiles scopes; a string outside the grammar grants nothing but itself. */
export function createScopeSet(scopes: readonly string[]): ScopeSet {
  const exact = new Set<string>();
  const types = new Map<string, TypeEntry>();
  const anyType: TypeEntry = { anyId: 0, ids: new Map() };
  for (const scope of scopes.slice(0, MAX_SCOPES)) {
    exact.add(scope);
    const parsed = parseScope(scope);
    if (parsed === undefined) continue;
    let entry = anyType;
    if (parsed.type !== "*") {
      entry = types.get(parsed.type) ?? { anyId: 0, ids: new Map() };
      types.set(parsed.type, entry);
    }
    if (parsed.id === "*") entry.anyId |= parsed.bits;
    else entry.ids.set(parsed.id, (entry.ids.get(parsed.id) ?? 0) | parsed.bits);
  }
  const allows = (entry: TypeEntry | undefined, bit: number, id: string | undefined): boolean =>
    entry !== undefined &&
    ((entry.anyId & bit) !== 0 || (id !== undefined && ((entry.ids.get(id) ?? 0) & bit) !== 0));
  return {
    covers(bit, target) {
      if ((anyType.anyId & bit) !== 0) return true;
      if (target === undefined) return false;
      const { component_type: type, component_id: id } = target;
      if (allows(types.get(type), bit, id) || allows(anyType, bit, id)) return true;
      const family = targetByFamily(target);
      if (family === undefined) return false;
      // `ui:submit:a2ui:Button` is every button, `ui:submit:a2ui:Button:s1/b` one.
      const entry = types.get(family.component_type);
      const name = type.slice(family.component_type.length + 1);
      return [family.component_id, name, `${name}:*`].some((one) => allows(entry, bit, one));
    },
    hasExactly: (scope) => exact.has(scope),
  };
}

function parseScope(scope: string): { bits: number; type: string; id: string } | undefined {
  if (scope === "*") return { bits: EVERY_CLASS, type: "*", id: "*" };
  const [prefix, classification, type, ...rest] = scope.split(":");
  if (prefix !== "ui" || classification === undefined || type === undefined || type === "") {
    return undefined;
  }
  const id = rest.length === 0 ? "*" : rest.join(":");
  if (id === "") return undefined;
  if (classification === "*") return { bits: EVERY_CLASS, type, id };
  return isClassification(classification)
    ? { bits: CLASSIFICATION_BIT[classification], type, id }
    : undefined;
}
