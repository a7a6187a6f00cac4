import type { Denial, OnBlock, Permit } from "@countersign/policy";
import type { Withheld } from "../withhold/register.js";

/** Blocks that no policy can lift, because the stream itself would break or a withheld unit would return. */
export function withheldDenial(why: Withheld): Denial {
  return {
    allow: false,
    rule: why.rule,
    reason: why.reason,
    reasonCode: "evaluation_failed",
    onBlock: "drop",
  };
}

/** The end of a delivered unit passes although the rest is withheld: it carries nothing but an end. */
export const CLOSE: Permit = Object.freeze({ allow: true });

/** The rule that ends a run whose stream breaks the protocol. */
export const ORDER_RULE = "gateway/order";

/** A block of the gateway's own, outside any policy. */
export function ownDenial(rule: string, reason: string, onBlock: OnBlock = "drop"): Denial {
  return { allow: false, rule, reason, reasonCode: "order_violation", onBlock };
}
