import { meaningOfPolicyRule, POLICY_RULES } from "@countersign/policy";
import type { RuleMeaning } from "@countersign/policy";
import { OWN_RULES, REQUEST_RULES } from "./own-rules.js";

const REQUEST = "ag_ui_request.";

/** Every rule that can stand on a receipt, with its meaning; what a policy names itself stands under `…*`. */
export function allRules(): ReadonlyMap<string, RuleMeaning> {
  const requests = Object.entries(REQUEST_RULES)
    // It is a setting of `gateway/approval`, and no receipt names it.
    .filter(([check]) => check !== "approval")
    .map(([check, meaning]) => [REQUEST + check, meaning] as const);
  return new Map([...Object.entries(OWN_RULES), ...requests, ...Object.entries(POLICY_RULES)]);
}

/** What a rule on a receipt means and what helps; nothing for a name that no receipt of ours has. */
export function explainRule(rule: string): RuleMeaning | undefined {
  return allRules().get(rule) ?? meaningOfPolicyRule(rule);
}

/** The table of docs/policy/rules.md. */
export function rulesPage(): string {
  const rows = [...allRules()].map(
    ([rule, { means, remedy }]) => `| \`${rule}\` | ${means} | ${remedy} |`,
  );
  return `${HEAD}\n${rows.join("\n")}\n`;
}

const HEAD = `# What a rule on a receipt means

Every rule that can block an event or a request, as \`receipts list\`, the log, \`countersign.blocked\` and the metrics name it.
\`countersign policy explain RULE\` says the same, \`countersign policy explain RECEIPT\` looks up the receipt first, and
\`countersign policy explain ERR_CODE\` explains the code of a refused request ([error codes](../errors.md)). Rules that begin with
\`gateway/\` no policy can lift, unless the last column says how; those of \`ag_ui_request\` are [what a browser may say](../inbound.md).

This page is made from the table that the gateway takes its rules from; a test fails when they differ.

| rule | what it says | what helps |
|---|---|---|`;
