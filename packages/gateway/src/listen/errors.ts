import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request's body came too slowly. */
    ERR_REQUEST_TIMEOUT: { milliseconds: number };
    /** A frame of a socket is not text, says several things, or breaks the protocol of sockets. */
    ERR_SOCKET_FRAME: { cause: string };
    /** A socket's frames come faster than is allowed. */
    ERR_SOCKET_RATE: { perSecond: number };
  }
}
