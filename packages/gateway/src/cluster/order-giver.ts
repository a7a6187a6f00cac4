import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { TicketSeal } from "../access/ticket-seal.js";
import type { FleetOrder } from "../sessions/order.js";
import type { StopOrder } from "../sessions/stop-order.js";

/** Stands for an operator whose name is not known: of an older gateway, or of an order that was tampered with. */
export const UNKNOWN_OPERATOR = "<unknown>";

/**
 * Closes the name of the operator who gives an order. It is sealed together with the order, since it goes into receipts:
 * whoever writes to the table could otherwise give orders of their own under the name of somebody else's.
 */
export function sealGiver(seal: TicketSeal, id: string, stop: StopOrder, operator: string): string {
  return seal.seal({ id, stop: canonicalJson({ ...stop }), operator });
}

/** The operator under whose name runs end by this order; nothing when it is a person's own, or about no runs. */
export function readGiver(seal: TicketSeal, id: string, order: FleetOrder): string | undefined {
  if (order.kind !== "stop" || order.stop.principal !== undefined) return undefined;
  if (typeof order.by !== "string") return UNKNOWN_OPERATOR;
  const sealed = seal.open(order.by);
  const isOfThis =
    sealed?.["id"] === id && sealed["stop"] === canonicalJson(order.stop as JsonValue);
  const operator = isOfThis ? sealed["operator"] : undefined;
  return typeof operator === "string" ? operator : UNKNOWN_OPERATOR;
}
