import type { Aspect } from "../classify/facts.js";
import type { AgUiBlock, CapabilityScope, PolicyDocument } from "../document/model.js";
import type { NamedEventType } from "../vocabulary/event-type.js";
import { readEventType } from "../vocabulary/event-type.js";
import { formatTarget } from "../vocabulary/target.js";
import { reasonOfStatus } from "./capability-status.js";
import type { Denial } from "./decision.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials } from "./rule.js";
import type { ScopeSet } from "./scope-set.js";
import { createScopeSet, scopeSetOf } from "./scope-set.js";

const NO_SCOPES = createScopeSet([]);

type Entry = {
  readonly scope: string;
  readonly types: readonly NamedEventType[] | undefined;
  readonly denial: Denial;
};

/** Entries by their target; an event uses at most four buckets, however many entries exist. */
type Index = {
  readonly everywhere: Entry[];
  readonly byType: Map<string, { anyId: Entry[]; byId: Map<string, Entry[]> }>;
};

/**
 * Compiles `capability_scopes`: where an entry covers an event, only a token with exactly that
 * scope allows it.
 */
export function compileExactScopeRule(document: PolicyDocument, block: AgUiBlock): Rule[] {
  const entries = block.capability_scopes ?? [];
  if (entries.length === 0) return [];
  const { mode, onBlock } = blockSettings(document, block);
  const make = denials("ag_ui.capability_scopes", onBlock);
  const index: Index = { everywhere: [], byType: new Map() };
  for (const entry of entries) insert(index, entry, make);
  const expired = make(...reasonOfStatus("expired"));
  return [
    {
      id: "ag_ui.capability_scopes",
      block: "ag_ui",
      mode,
      perAspect: true,
      check({ capability, event }, aspect) {
        const scopes = capability?.status === "valid" ? scopeSetOf(capability.scopes) : NO_SCOPES;
        const needed = firstMissing(index, aspect, scopes);
        if (needed !== undefined) return capability?.status === "expired" ? expired : needed;
        if (capability?.authorize === undefined) return undefined;
        // The scope's text is the issuer's; restrictions of a holder or a constraint count as well,
        // also if the class is open and no other rule checks the token. Restrictions of the token's
        // other scopes do not count: a narrowing without those would allow more than this one.
        for (const scope of coveringScopes(index, aspect)) {
          const refusal = capability.authorize(event, aspect, scope);
          if (refusal !== undefined) return make("scope_not_authorized", refusal);
        }
        return undefined;
      },
      saw: ({ capability }, aspect) => ({
        target: formatTarget(aspect.target),
        event_type: aspect.eventType,
        needed: coveringScopes(index, aspect),
        scopes: [...(capability?.scopes ?? [])],
      }),
    },
  ];
}

function insert(index: Index, source: CapabilityScope, make: ReturnType<typeof denials>): void {
  const entry: Entry = {
    scope: source.scope_id,
    types: source.allow_event_types
      ?.map((name) => readEventType(name))
      .filter((t) => t !== undefined),
    denial: make("exact_scope_required", `capability with scope ${source.scope_id} required`),
  };
  if (source.allow_targets === undefined) {
    index.everywhere.push(entry);
    return;
  }
  for (const { component_type: type, component_id: id } of source.allow_targets) {
    let bucket = index.byType.get(type);
    if (bucket === undefined) {
      bucket = { anyId: [], byId: new Map() };
      index.byType.set(type, bucket);
    }
    if (id === undefined) bucket.anyId.push(entry);
    else bucket.byId.set(id, [...(bucket.byId.get(id) ?? []), entry]);
  }
}

// All entries that cover an event must be satisfied: one more entry can only restrict.
function firstMissing(
  index: Index,
  aspect: Aspect,
  scopes: Pick<ScopeSet, "hasExactly">,
): Denial | undefined {
  const { target } = aspect;
  const bucket = target === undefined ? undefined : index.byType.get(target.component_type);
  return (
    missingIn(index.everywhere, aspect, scopes) ??
    (bucket === undefined ? undefined : missingIn(bucket.anyId, aspect, scopes)) ??
    (target?.component_id === undefined
      ? undefined
      : missingIn(bucket?.byId.get(target.component_id), aspect, scopes))
  );
}

function missingIn(
  entries: readonly Entry[] | undefined,
  aspect: Aspect,
  scopes: Pick<ScopeSet, "hasExactly">,
): Denial | undefined {
  if (entries === undefined) return undefined;
  for (const entry of entries) {
    if (coversType(entry, aspect) && !scopes.hasExactly(entry.scope)) return entry.denial;
  }
  return undefined;
}

function coversType({ types }: Entry, aspect: Aspect): boolean {
  if (types === undefined) return true;
  for (const type of types) {
    if (type.eventType !== aspect.eventType) continue;
    if (type.customName === undefined || type.customName === aspect.customName) return true;
  }
  return false;
}

function coveringScopes(index: Index, aspect: Aspect): string[] {
  const scopes: string[] = [];
  firstMissing(index, aspect, {
    hasExactly(scope) {
      scopes.push(scope);
      return true;
    },
  });
  return scopes;
}
