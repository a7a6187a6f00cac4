import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A client wants to go on with a stream that is not kept here, or not from there. */
    ERR_STREAM_GONE: Record<string, never>;
    /** A request's body came too slowly. */
    ERR_REQUEST_TIMEOUT: { milliseconds: number };
    /** A client asks for receipts in words that mean nothing. */
    ERR_RECEIPTS_QUESTION: Record<string, never>;
    /** A client names a session in a way that no session is named. */
    ERR_SESSION_NAME: Record<string, never>;
    /** A frame of a socket is not text, says several things, or breaks the protocol of sockets. */
    ERR_SOCKET_FRAME: { cause: string };
    /** A socket's frames come faster than is allowed. */
    ERR_SOCKET_RATE: { perSecond: number };
    /** Another gateway has the stream, and could not be reached or did not answer. */
    ERR_STREAM_UNREACHABLE: Record<string, never>;
    /** As many streams of other gateways are passed on here as may be. */
    ERR_STREAM_RELAYS: { allowed: number };
  }
}
