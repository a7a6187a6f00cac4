import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** No actor of the document has a mode that this runner performs. */
    ERR_REDTEAM_MODE: { modes: readonly string[] };
    /** The target could not be reached, or the connection broke. */
    ERR_REDTEAM_CONNECTION: { cause: string };
    /** The target took longer than one of the limits on time. */
    ERR_REDTEAM_TIMEOUT: { limit: string; milliseconds: number };
    /** The target sent more than the runner keeps, or frames it cannot read. */
    ERR_REDTEAM_STREAM: { reason: "trace" | "malformed" | "frame" };
    /** The run was stopped by its caller. */
    ERR_REDTEAM_STOPPED: Record<never, never>;
  }
}
