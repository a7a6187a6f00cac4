import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** Another gateway has the stream, and could not be reached or did not answer. */
    ERR_STREAM_UNREACHABLE: Record<string, never>;
    /** As many streams of other gateways are passed on here as may be. */
    ERR_STREAM_RELAYS: { allowed: number };
  }
}
