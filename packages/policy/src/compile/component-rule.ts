import type { Target } from "../vocabulary/target.js";
import { formatTarget, parseTarget, targetByFamily } from "../vocabulary/target.js";
import type { ComponentsBlock, PolicyDocument } from "../document/model.js";
import type { NameTrie } from "../patterns/name-trie.js";
import { createNameTrie } from "../patterns/name-trie.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";

type IdTable = { has(target: Target): boolean };

/**
 * Compiles `ag_ui_components`: the cost depends on the length of the names, not on the number of
 * rules.
 */
export function compileComponentRule(document: PolicyDocument): Rule[] {
  const block: ComponentsBlock | undefined = document.rules.ag_ui_components;
  if (!isActive(block)) return [];
  const { mode, onBlock } = blockSettings(document, block);
  const make = denials("ag_ui_components", onBlock);
  const unknownType = make("unknown_component_type", "unknown component type");
  const unknownId = make("unknown_component_id", "unknown component id");
  const blocked = make("component_blocked", "component is blocked");
  const required = make("component_required", "target component required");
  const open = block.default === "allow";
  const types = open ? undefined : trieOf(block.allow_components);
  const ids = open ? undefined : idTableOf(block.allow_ids);
  const blockedTypes = trieOf(block.block_components);
  const blockedIds = idTableOf(block.block_ids);
  const nothingListed = !open && types === undefined && ids === undefined;
  return [
    {
      id: "ag_ui_components",
      block: "ag_ui_components",
      mode,
      perAspect: true,
      check(_facts, aspect) {
        const { target } = aspect;
        if (target === undefined) {
          // A form or a toast without a name would bypass every list of names.
          const { eventType } = aspect;
          return eventType === "form_action" || eventType === "notification" ? required : undefined;
        }
        if (blockedTypes?.has(target.component_type) === true) return blocked;
        if (blockedIds?.has(target) === true) return blocked;
        if (nothingListed) return unknownType;
        if (types !== undefined && !types.has(target.component_type)) return unknownType;
        if (ids !== undefined && !ids.has(target)) return unknownId;
        return undefined;
      },
      saw: (_facts, aspect) => ({ target: formatTarget(aspect.target) }),
    },
  ];
}

function trieOf(names: readonly string[] | undefined): NameTrie | undefined {
  return names === undefined ? undefined : createNameTrie(names);
}

function idTableOf(entries: readonly string[] | undefined): IdTable | undefined {
  if (entries === undefined) return undefined;
  const byType = new Map<string, string[]>();
  for (const entry of entries) {
    const target = parseTarget(entry);
    if (target?.component_id === undefined) continue;
    const list = byType.get(target.component_type) ?? [];
    list.push(target.component_id);
    byType.set(target.component_type, list);
  }
  const tries = new Map<string, NameTrie>();
  for (const [type, ids] of byType) tries.set(type, createNameTrie(ids));
  return {
    // An absent id is the empty name: only `type:*` allows it.
    has(target) {
      const { component_type: type, component_id: id = "" } = targetByFamily(target) ?? target;
      return tries.get(type)?.has(id) ?? false;
    },
  };
}
