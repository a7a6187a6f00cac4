import type { PolicyDocument } from "@countersign/policy";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { LogEntry } from "@countersign/receipts";
import { explainName } from "./explain-name.js";
import type { NameMeaning } from "./explain-name.js";

/** The rules of an entry, and the event that they are about. */
export type EntryMeaning = {
  /** The rules in the order of the entry; a rule that this version does not know is left out. */
  readonly rules: readonly NameMeaning[];
  /** The tool, custom event, component or path, where the policy opens it by its name. */
  readonly named?: NameMeaning;
};

/**
 * Explains the decision of an entry, with the lines that would allow its event in this policy. If the policy opens the
 * event by its name, the lines are in `named`, and the rules have none.
 */
export function explainEntry(entry: LogEntry, document: PolicyDocument): EntryMeaning {
  const { rule, further_rules: further = [] } = entry;
  if (rule === undefined) return { rules: [] };
  const act = actOf(entry);
  const named = act === undefined ? undefined : explainName(act, document);
  const rules = [rule, ...further]
    .flatMap((name) => explainName(name, document) ?? [])
    .map((meaning) => (named === undefined ? meaning : { ...meaning, openings: [] }));
  return { rules, ...(named === undefined ? {} : { named }) };
}

/** Rules that a name opens: what the receipt says the event did, under which a policy lists it. */
const BY_NAME: ReadonlySet<string> = new Set([
  "ag_ui.capability",
  "ag_ui_components",
  "ag_ui_inbound",
]);

/** The name of what an entry is about, where its rule is opened by name and the receipt has one. */
function actOf({ rule = "", receipt, direction, tool, path }: LogEntry): string | undefined {
  if (!BY_NAME.has(rule) || receipt.agent_id === OPERATOR_AGENT) return undefined;
  if (tool !== undefined) return `tool:${tool}`;
  const { event_type: type, target } = receipt;
  if (path !== undefined && direction === "outbound" && type === "state_update") {
    return `state:${path}`;
  }
  if (typeof type !== "string") return `custom:${type.custom}`;
  return target === undefined
    ? undefined
    : [target.component_type, target.component_id].filter(Boolean).join(":");
}
