import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The session to be recorded answered with an error status. */
    ERR_INSPECT_SESSION_REFUSED: { status: number };
    /** A recording to be replayed holds no event. */
    ERR_INSPECT_RECORDING_EMPTY: Record<never, never>;
  }
}
