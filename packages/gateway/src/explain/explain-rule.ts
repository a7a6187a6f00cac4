import { meaningOfPolicyRule, POLICY_RULES, STREAM_RULES } from "@countersign/policy";
import type { Opening, RuleMeaning } from "@countersign/policy";
import { ORDER_RULES } from "@countersign/wire/order";
import type { OrderRule } from "@countersign/wire/order";
import { OWN_RULES, REQUEST_RULES } from "../event/own-rules.js";
import { RULES } from "../outbound/decide/rules.js";

const REQUEST = "ag_ui_request.";

/**
 * Every rule that a receipt can name, with its meaning; names chosen in a policy are listed as
 * `…*`.
 */
export function allRules(): ReadonlyMap<string, RuleMeaning> {
  const requests = Object.entries(REQUEST_RULES)
    // A setting of `gateway/approval`, which no receipt names.
    .filter(([check]) => check !== "approval")
    .map(([check, meaning]) => [REQUEST + check, meaning] as const);
  return new Map([...Object.entries(OWN_RULES), ...requests, ...Object.entries(POLICY_RULES)]);
}

/** The meaning and the fix of a rule on a receipt; `undefined` for a name that no receipt has. */
export function explainRule(rule: string): RuleMeaning | undefined {
  return allRules().get(rule) ?? orderRules().get(rule) ?? meaningOfPolicyRule(rule);
}

/** Rules about a stream, which `ag_ui_order` and `gateway/order` name in their reasons. */
export function orderRules(): ReadonlyMap<string, RuleMeaning> {
  const automaton = Object.entries(ORDER_RULES).map(
    ([rule, { title, description, reference }]: [string, OrderRule]) =>
      [rule, orderMeaning(rule, `${title}. ${description}`, reference.startsWith("E"))] as const,
  );
  const stream = Object.entries(STREAM_RULES).map(
    ([rule, means]) => [rule, orderMeaning(rule, means, true)] as const,
  );
  return new Map([...automaton, ...stream]);
}

function orderMeaning(rule: string, means: string, isOpenable: boolean): RuleMeaning {
  const opening: Opening = isOpenable
    ? { policy: `ag_ui_order: { rules: { ${rule}: allow } }` }
    : OWN_RULES["gateway/order"].opening;
  return { means, remedy: "fix the agent; `countersign doctor URL` shows the event", opening };
}

/** A description as the end of a sentence. */
function ended(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** A description as a sentence of its own. */
function sentence(text: string): string {
  return ended(text.charAt(0).toUpperCase() + text.slice(1));
}

/** The lines that allow an event, as the end of a section. */
function openingText(opening: Opening): string {
  if ("closed" in opening) return `No setting allows it: ${ended(opening.closed)}`;
  if ("passes" in opening) return `Allow it: ${ended(opening.passes)}`;
  const [lines, file] =
    "policy" in opening ? [opening.policy, "the policy"] : [opening.config, "`countersign.yaml`"];
  return `Lines of ${file} that allow it:\n\n\`\`\`yaml\n${lines}\n\`\`\``;
}

/** The text of docs/policy/rules.md. */
export function rulesPage(): string {
  const sections = [...allRules()].map(
    ([rule, { means, remedy, opening }]) =>
      `## ${rule}\n\n${sentence(means)}\n\nFix: ${ended(remedy)}\n\n${openingText(opening)}\n`,
  );
  const order = Object.values(RULES).flatMap(({ when, rules }) =>
    rules.map(({ name, blocks }, index) => {
      const moment = index === 0 ? when : "";
      return `| ${moment} | ${blocks} | ${STEPS.get(name) ?? `\`${name}\``} |`;
    }),
  );
  return `${HEAD}\n${sections.join("\n")}${ORDER}\n${order.join("\n")}\n`;
}

/** The names of steps whose decision is that of another rule. */
const STEPS: ReadonlyMap<string, string> = new Map([
  ["policy", "the policy"],
  ["first rule", "the rule that withheld the unit"],
]);

const HEAD = `# Rules

This page lists every rule that can block an event or a request. \`receipts list\`, the log, \`countersign.blocked\` and the metrics use
the same names. \`countersign policy explain RULE\` prints the same text, \`countersign policy explain RECEIPT\` looks up the rule of a
receipt, and \`countersign policy explain ERR_CODE\` explains the code of a rejected request ([error codes](../errors.md)).

Lines of the policy belong under its \`rules:\`. Replace names in capitals with your own. Add the lines to an existing block, before the
entries of a list. [Requests](../inbound.md) describes the rules of \`ag_ui_request\`.

\`policy explain\` also accepts a rule of \`ag_ui_order\` (\`run/finish-ids\`), the name in a receipt or notice (\`tool:delete_user\`,
\`custom:raw\`, \`state:/ui/theme\`, \`interrupt:confirmation\`), any sentence that the product prints, a key of the policy or of
\`countersign.yaml\`, a repair and a metric. It prints lines that it tested with your policy (\`--policy FILE\`), or the reason why no line allows it.

The gateway generates this page from its own table of rules; a test fails if they differ. [The order of evaluation](#order-of-evaluation) is at the end.
`;

const ORDER = `
## Order of evaluation

The gateway evaluates every event of an agent against these rules, from top to bottom. In each row of "when", the first rule that blocks
decides. The gateway evaluates exactly this list ([rules.ts](../../packages/gateway/src/outbound/decide/rules.ts)): no other rule blocks an
event. After a block that ends the run, or after a failed write to the log, the gateway drops later events of the run without a decision.

| when | blocks | rule |
|---|---|---|`;
