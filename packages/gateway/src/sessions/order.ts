import type { StopOrder, StoppedRun } from "./stop-order.js";

/** What one gateway asks of all others: to end runs, or to keep a token for a session. */
export type FleetOrder =
  | {
      readonly kind: "stop";
      readonly stop: StopOrder;
      /** The operator who asks, sealed; left out for a person, and by older gateways. */
      readonly by?: string;
    }
  /** Session and token, sealed: a token is worth something to whoever reads it. */
  | { readonly kind: "hand"; readonly sealed: string };

/** What one gateway did about an order. */
export type OrderAnswer = {
  readonly gateway: string;
  readonly stopped: readonly StoppedRun[];
  /** It signs for what it ended; left out by older gateways, and by one that could not: then who asked does. */
  readonly signs?: true;
};

/** Signs for runs that were ended on an operator's word; resolves with whether the log has the receipts. */
export type SignStopped = (operator: string, stopped: readonly StoppedRun[]) => Promise<boolean>;
