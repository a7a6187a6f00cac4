import type { OrderRuleId } from "@countersign/wire/order";
import { EVENT_RULES } from "./event-rules.js";
import { FRAMING_RULES } from "./framing-rules.js";
import { INTERFACE_RULES } from "./interface-rules.js";
import { NETWORK_RULES } from "./network-rules.js";
import { SEQUENCE_RULES } from "./order-rules.js";
import type { Rule, Severity } from "./rule.js";
import { TRANSPORT_RULES } from "./transport-rules.js";

/** The stable id of a rule. */
export type RuleId =
  | keyof typeof NETWORK_RULES
  | keyof typeof TRANSPORT_RULES
  | keyof typeof FRAMING_RULES
  | keyof typeof EVENT_RULES
  | keyof typeof INTERFACE_RULES
  | OrderRuleId;

/** Every rule the doctor knows, by id, in the order of the layers. */
export const RULES: Readonly<Record<RuleId, Rule>> = Object.freeze({
  ...NETWORK_RULES,
  ...TRANSPORT_RULES,
  ...FRAMING_RULES,
  ...EVENT_RULES,
  ...SEQUENCE_RULES,
  ...INTERFACE_RULES,
});

/** Whether a name is that of a rule. */
export function isRuleId(name: string): name is RuleId {
  return Object.hasOwn(RULES, name);
}

/** The path of a rule's page, relative to the root of the documentation. */
export function rulePage(id: RuleId): string {
  return `rules/${id.replace("/", "-")}.md`;
}

/** The severities a user may set for a rule. */
export type SeverityOverride = Severity | "off";
