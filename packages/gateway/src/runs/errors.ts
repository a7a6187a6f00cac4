import "@countersign/core";
import type { RefusedPart } from "../inbound/errors.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A client asked for a run under an id that was used before. */
    ERR_RUN_ID_REUSED: RefusedPart;
    /** A client asked for a run on a thread whose last run is still open. */
    ERR_RUN_ACTIVE: RefusedPart;
    /** The run was stopped before the agent had answered. */
    ERR_RUN_STOPPED: Record<string, never>;
    /** The gateway is stopping and takes no new runs. */
    ERR_RUN_DRAINING: Record<string, never>;
  }
}
