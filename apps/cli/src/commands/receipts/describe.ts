import { explainRule } from "@countersign/gateway";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { AgUiReceipt, LogEntry } from "@countersign/receipts";
import pc from "picocolors";
import { printableText } from "@countersign/core";

/** The event type as filters spell it. */
export function typeOf(receipt: AgUiReceipt): string {
  const { event_type: type } = receipt;
  return printableText(typeof type === "string" ? type : `custom:${type.custom}`);
}

/** The target of the event, `type:id`. */
export function targetOf(receipt: AgUiReceipt): string {
  const { target } = receipt;
  if (target === undefined) return "";
  return printableText([target.component_type, target.component_id].filter(Boolean).join(":"));
}

/** Allowed or blocked, and why. */
export function decisionOf(entry: LogEntry): string {
  return `${verdictOf(entry)} ${reasonOf(entry)}`.trimEnd();
}

/** Allowed or blocked. */
export function verdictOf({ receipt }: LogEntry): string {
  return receipt.allowed ? pc.green("allowed") : pc.red("blocked");
}

/** Why something was blocked, or what would have blocked it; nothing where no rule matched. */
export function reasonOf({ receipt, rule, further_rules: further = [] }: LogEntry): string {
  if (!receipt.allowed) return printableText(receipt.denial_reason ?? "");
  // In observe mode the entry names the rules that enforcing would apply.
  const rules = [rule, ...further].filter((one) => one !== undefined).map(printableText);
  return rule === undefined ? "" : pc.yellow(`would block: ${rules.join(", ")}`);
}

/** One sentence about an entry: who, what, which rule, and how to open it. */
export function explainEntry(entry: LogEntry): string {
  const { receipt, rule } = entry;
  const target = targetOf(receipt);
  const place = entry.client_address === undefined ? "" : ` at ${entry.client_address}`;
  const client = `${entry.principal ?? "an anonymous client"}${place}`;
  const agent = `agent ${receipt.agent_id}`;
  const isOperator = receipt.agent_id === OPERATOR_AGENT;
  const [sender, receiver] =
    entry.direction === "inbound"
      ? [isOperator ? `operator ${receipt.target?.component_id ?? ""}` : client, agent]
      : [agent, client];
  const about = [
    entry.tool === undefined ? "" : ` about tool ${entry.tool}`,
    entry.path === undefined ? "" : ` at path ${entry.path}`,
    target === "" || isOperator ? "" : ` on ${target}`,
  ].join("");
  const act = `${typeOf(receipt)} (${receipt.classification})${about}`;
  const sent = `${sender} sent ${act}${isOperator ? "" : ` to ${receiver}`}`;
  const remedy = rule === undefined ? undefined : explainRule(rule)?.remedy;
  const fix = remedy === undefined ? "" : ` To allow it: ${remedy}.`;
  return printableText(`${capitalised(sent)}, and ${outcomeOf(entry)}.${fix}`);
}

function outcomeOf({ receipt, rule }: LogEntry): string {
  if (!receipt.allowed) {
    return `rule ${rule ?? "of an older version"} blocked it: ${receipt.denial_reason ?? ""}`;
  }
  return rule === undefined
    ? "the gateway allowed it"
    : `the gateway allowed it in observe mode; rule ${rule} would block it`;
}

const capitalised = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** An entry for people: one line for each thing it says. */
export function describeEntry(entry: LogEntry): string {
  const { receipt } = entry;
  const target = targetOf(receipt);
  const rows: [name: string, value: string | undefined][] = [
    ["entry", String(entry.seq)],
    ["decision", decisionOf(entry)],
    ["rule", entry.rule],
    ["also", entry.further_rules?.join(", ")],
    ["event", `${typeOf(receipt)} (${receipt.classification})${target && ` on ${target}`}`],
    ["tool", entry.tool],
    ["path", entry.path],
    ["direction", directionOf(entry)],
    ["principal", entry.principal],
    ["address", entry.client_address],
    ["agent", receipt.agent_id],
    ["session", receipt.session_id],
    ["run", entry.run_id],
    ["thread", entry.thread_id],
    ["capability", receipt.capability_id],
    ["received", new Date(entry.received_at).toISOString()],
    ["policy", `${entry.policy_hash} (${entry.mode})`],
    ["payload", receipt.payload_hash],
    ["emitted", entry.emitted_hash],
    ["receipt", receipt.id],
    ["signed by", receipt.kernel_key],
  ];
  return rows
    .flatMap(([name, value]) => {
      if (value === undefined) return [];
      const shown = name === "decision" ? value : printableText(value);
      return [`${pc.dim(name.padEnd(10))}  ${shown}`];
    })
    .join("\n");
}

/** The sender and the receiver; an operator's action is logged as an event from outside. */
function directionOf({ direction, receipt }: LogEntry): string {
  if (direction !== "inbound") return "agent to person";
  return receipt.agent_id === OPERATOR_AGENT ? "operator to gateway" : "person to agent";
}
