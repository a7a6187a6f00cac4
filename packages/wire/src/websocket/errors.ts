import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The offered sub-protocols carry a bearer token in a way that cannot be honoured. */
    ERR_WEBSOCKET_BEARER: { reason: "encoding" | "repeated" | "marker-missing" };
    /** A second input arrived while the run of the first is still going. */
    ERR_WEBSOCKET_RUN_ACTIVE: { exchange: number };
    /** The server sent an event although no input was sent yet. */
    ERR_WEBSOCKET_NO_INPUT: Record<never, never>;
  }
}
