import type { StopOrder, StoppedRun } from "./stop-order.js";

/** An order of one gateway to all others: to stop runs, or to keep a token for a session. */
export type FleetOrder =
  | {
      readonly kind: "stop";
      readonly stop: StopOrder;
      /** The operator who gives the order, sealed; absent for a person, and from older gateways. */
      readonly by?: string;
    }
  /** Session and token, sealed, because a reader of the table could use the token. */
  | { readonly kind: "hand"; readonly sealed: string };

/** The answer of one gateway to an order. */
export type OrderAnswer = {
  readonly gateway: string;
  readonly stopped: readonly StoppedRun[];
  /**
   * The gateway signs for the runs it stopped; absent from older gateways and when signing failed:
   * then the sender signs.
   */
  readonly signs?: true;
};

/** Signs for runs that an operator stopped; resolves with true when the log has the receipts. */
export type SignStopped = (operator: string, stopped: readonly StoppedRun[]) => Promise<boolean>;
