import { canonicalJson, setMember, sha256Hex } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { isRecord, safeValueFromUnknown } from "./value.js";
import type { SafeValue } from "./value.js";

/**
 * The rule for one field. `mask` is the same text for every value. `hash` is keyed: equal values
 * have equal hashes, and guesses cannot be tested without the key.
 */
export type FieldRule = "reveal" | "mask" | "hash" | "summary" | "omit";

/**
 * The policy of a value: one rule for the whole, or rules by JSON Pointer, where `*` matches every
 * element of a list. Fields without a rule stay inside.
 */
export type ValuePolicy = FieldRule | { readonly fields: Readonly<Record<string, FieldRule>> };

/** The implementation of the named rules. */
export type FieldRules = {
  summary(value: unknown): JsonObject;
  /** Scrubs revealed text. */
  text(text: string): string;
  readonly hashKey: string | undefined;
};

type Node = { rule?: FieldRule; readonly children: Map<string, Node> };

/** A policy with parsed pointers. */
export type CompiledPolicy = FieldRule | Node;

const RULES = new Set<unknown>(["reveal", "mask", "hash", "summary", "omit"]);
const MASK = "[masked]";

/**
 * Compiles a policy.
 *
 * @throws TypeError on an unknown rule, an invalid pointer, or `hash` without a key
 */
export function compilePolicy(policy: ValuePolicy, hashKey: string | undefined): CompiledPolicy {
  const check = (rule: FieldRule): FieldRule => {
    if (!RULES.has(rule)) throw new TypeError(`unknown reveal rule ${String(rule)}`);
    if (rule === "hash" && hashKey === undefined) {
      throw new TypeError(
        "the rule hash needs a hashKey: without a key short values can be guessed",
      );
    }
    return rule;
  };
  if (typeof policy === "string") return check(policy);
  const root: Node = { children: new Map() };
  for (const [pointer, rule] of Object.entries(policy.fields)) {
    if (!/^(\/([^/~]|~[01])*)+$/.test(pointer)) {
      throw new TypeError(`not a JSON Pointer to a field: ${pointer}`);
    }
    let node = root;
    for (const token of pointer.slice(1).split("/")) {
      const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
      const next: Node = node.children.get(name) ?? { children: new Map() };
      node.children.set(name, next);
      node = next;
    }
    node.rule = check(rule);
  }
  return root;
}

/** The disclosed form of a value; `undefined` when nothing of it may be shown. */
export function applyPolicy(
  policy: CompiledPolicy,
  value: unknown,
  rules: FieldRules,
): SafeValue | undefined {
  const safe = safeValueFromUnknown(value);
  // A value that is not plain JSON has no fields to choose from.
  if (safe === undefined) return policy === "omit" ? undefined : rules.summary(value);
  return typeof policy === "string" ? applyRule(policy, safe, rules) : pick(policy, safe, rules);
}

function pick(node: Node, value: SafeValue, rules: FieldRules): SafeValue | undefined {
  if (node.rule !== undefined) return applyRule(node.rule, value, rules);
  if (Array.isArray(value)) {
    const each = node.children.get("*");
    if (each === undefined) return undefined;
    return value.map((item) => pick(each, item, rules) ?? null);
  }
  if (!isRecord(value)) return undefined;
  const shown: JsonObject = {};
  for (const [name, child] of node.children) {
    if (!Object.hasOwn(value, name)) continue;
    const member = pick(child, value[name] as SafeValue, rules);
    if (member !== undefined) setMember(shown, name, member);
  }
  return shown;
}

function applyRule(rule: FieldRule, value: SafeValue, rules: FieldRules): SafeValue | undefined {
  switch (rule) {
    case "reveal":
      return scrubValue(value, rules.text);
    case "mask":
      return MASK;
    case "hash":
      return `sha256:${sha256Hex(`${rules.hashKey ?? ""}\0${canonicalJson(value)}`)}`;
    case "summary":
      return rules.summary(value);
    default:
      return undefined;
  }
}

/** Scrubs text inside a value; a member whose name contains a match is omitted. */
export function scrubValue(value: SafeValue, scrub: (text: string) => string): SafeValue {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, scrub));
  if (!isRecord(value)) return value;
  const shown: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (scrub(name) === name) setMember(shown, name, scrubValue(member as SafeValue, scrub));
  }
  return shown;
}
