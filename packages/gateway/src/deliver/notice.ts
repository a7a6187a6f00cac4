import type { CustomEvent } from "@countersign/wire";
import type { Passage } from "../pipeline/passage.js";

/** The name of the event that tells a client something was withheld. */
export const NOTICE_NAME = "countersign.blocked";

/** A notice names the receipt, the rule and the reason; it carries nothing of what was blocked. */
export function noticeOf(passage: Passage): CustomEvent {
  const { event, decision, receiptId, facts } = passage;
  return {
    type: "CUSTOM",
    name: NOTICE_NAME,
    value: {
      receipt: receiptId ?? "",
      type: event?.type ?? "",
      classification: facts?.classification ?? "",
      ...(decision?.allow === false ? { rule: decision.rule, reason: decision.reason } : {}),
    },
  };
}
