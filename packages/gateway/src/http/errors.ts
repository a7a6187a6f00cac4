import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A client resumes a stream that is not kept here, or from an event that is no longer kept. */
    ERR_STREAM_GONE: Record<string, never>;
    /** A request's body arrived too slowly. */
    ERR_REQUEST_TIMEOUT: { milliseconds: number };
    /** A client requests receipts with an invalid value. */
    ERR_RECEIPTS_QUESTION: Record<string, never>;
    /** A client sends an invalid session id. */
    ERR_SESSION_NAME: Record<string, never>;
    /** A WebSocket frame is not text, is ambiguous, or violates the protocol. */
    ERR_SOCKET_FRAME: { cause: string };
    /** A client sends WebSocket frames faster than allowed. */
    ERR_SOCKET_RATE: { perSecond: number };
    /** Another gateway has the stream, and could not be reached or did not respond. */
    ERR_STREAM_UNREACHABLE: Record<string, never>;
    /** The gateway has reached its limit of relayed streams. */
    ERR_STREAM_RELAYS: { allowed: number };
  }
}
