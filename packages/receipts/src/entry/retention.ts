import { OPERATOR_AGENT } from "@countersign/core";
import type { ReceiptDraft } from "./draft.js";
import type { LogEntry } from "./entry.js";

/** The event type of a receipt about removed entries. */
const EVENT = "operator.retention";
const TARGET = "retention";
const NUMBER = /^[1-9]\d{0,15}$/;

/** The value of the column `event_type` for such receipts. */
export const RETENTION_EVENT_TYPE = `custom:${EVENT}`;

/**
 * The members of a receipt that announces the removal of all entries before `first`. Without such
 * an entry in the log, missing entries are damage.
 */
export function retentionReceipt(
  first: number,
): Pick<ReceiptDraft, "agent_id" | "event_type" | "target"> {
  return {
    agent_id: OPERATOR_AGENT,
    event_type: { custom: EVENT },
    target: { component_type: TARGET, component_id: String(first) },
  };
}

/** The number before which an entry announces the removal of entries; undefined for other entries. */
export function removedBefore({ receipt }: Pick<LogEntry, "receipt">): number | undefined {
  const { agent_id: agent, event_type: type, target, allowed } = receipt;
  // Agents and clients choose event types and targets; no agent has this id.
  if (agent !== OPERATOR_AGENT || !allowed || typeof type === "string") return undefined;
  if (type.custom !== EVENT || target?.component_type !== TARGET) return undefined;
  const { component_id: first = "" } = target;
  return NUMBER.test(first) ? Number(first) : undefined;
}
