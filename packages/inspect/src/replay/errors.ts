import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A recording to be replayed holds no event. */
    ERR_INSPECT_RECORDING_EMPTY: Record<never, never>;
  }
}
