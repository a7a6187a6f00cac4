import type { ErrorCode } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** More units (messages, calls, steps, subagents) are open at once than allowed. */
    ERR_ORDER_TOO_MANY_OPEN: { limit: number; eventNumber: number };
    /** The ids of one run take more memory than allowed. */
    ERR_ORDER_STATE_TOO_LARGE: { limit: number; eventNumber: number };
  }
}

/** The codes that the run automaton throws. */
export type OrderErrorCode = Extract<ErrorCode, `ERR_ORDER_${string}`>;
