import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { TicketSeal } from "../access/ticket-seal.js";
import type { FleetOrder, StopOrder } from "../sessions/orders.js";

/** The operator when the name is unknown: the order is from an older gateway, or was tampered with. */
export const UNKNOWN_OPERATOR = "<unknown>";

/**
 * Seals the operator's name with the order: otherwise write access to the table would be enough to order in that name.
 */
export function sealOperator(
  seal: TicketSeal,
  id: string,
  stop: StopOrder,
  operator: string,
): string {
  return seal.seal({ id, stop: canonicalJson({ ...stop }), operator });
}

/** The operator in whose name an order ends runs; `undefined` for a person's own stop and for other orders. */
export function readOperator(seal: TicketSeal, id: string, order: FleetOrder): string | undefined {
  if (order.kind !== "stop" || order.stop.principal !== undefined) return undefined;
  if (typeof order.by !== "string") return UNKNOWN_OPERATOR;
  const sealed = seal.open(order.by);
  const isOfThis =
    sealed?.["id"] === id && sealed["stop"] === canonicalJson(order.stop as JsonValue);
  const operator = isOfThis ? sealed["operator"] : undefined;
  return typeof operator === "string" ? operator : UNKNOWN_OPERATOR;
}
