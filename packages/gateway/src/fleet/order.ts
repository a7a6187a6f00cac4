import type { StopOrder, StoppedRun } from "./stop-order.js";

/** What one gateway asks of all others: to end runs, or to keep a token for a session. */
export type FleetOrder =
  | { readonly kind: "stop"; readonly stop: StopOrder }
  /** Session and token, sealed: a token is worth something to whoever reads it. */
  | { readonly kind: "hand"; readonly sealed: string };

/** What one gateway did about an order. */
export type OrderAnswer = { readonly gateway: string; readonly stopped: readonly StoppedRun[] };
