import type { WebSocket } from "ws";

/** A socket that the watch checks. */
export type Watched = {
  readonly socket: WebSocket;
  /** Whether a run is open on it. */
  isBusy(): boolean;
};

/** Checks the open sockets with one timer. */
export type SocketWatch = {
  add(watched: Watched): void;
  stop(): void;
};

type State = {
  readonly watched: Watched;
  usedAt: number;
  pingedAt: number;
  /** Unanswered pings. */
  open: number;
  /** Bytes that were buffered at the last ping. */
  buffered: number;
};

const GOING_AWAY = 1001;
const PING_MS = 15_000;
/** Unanswered pings after which the peer counts as gone. */
const UNANSWERED = 3;

/**
 * Closes idle sockets and terminates dead ones.
 *
 * A suspended laptop leaves its connection half open: only a pong tells it from a live one. Time is monotonic: a
 * clock adjustment makes no socket idle.
 */
export function createSocketWatch(idleMs: number): SocketWatch {
  const states = new Map<WebSocket, State>();
  const check = (): void => {
    const now = performance.now();
    for (const [socket, state] of states) {
      if (state.watched.isBusy()) state.usedAt = now;
      if (state.open >= UNANSWERED) socket.terminate();
      else if (now - state.usedAt >= idleMs) socket.close(GOING_AWAY, "IDLE");
      else if (now - state.pingedAt >= PING_MS) {
        state.pingedAt = now;
        // While the socket is paused, or the reader is slow but makes progress, a pong cannot have arrived yet.
        const isWaiting = socket.isPaused || socket.bufferedAmount < state.buffered;
        state.buffered = socket.bufferedAmount;
        state.open = isWaiting ? 0 : state.open + 1;
        socket.ping();
      }
    }
  };
  const timer = setInterval(check, Math.min(1000, Math.max(10, idleMs / 4)));
  timer.unref();
  return {
    add: (watched) => {
      const { socket } = watched;
      const now = performance.now();
      const state = { watched, usedAt: now, pingedAt: now, open: 0, buffered: 0 };
      states.set(socket, state);
      socket.on("message", () => {
        state.usedAt = performance.now();
        state.open = 0;
      });
      socket.on("pong", () => {
        state.open = 0;
      });
      socket.once("close", () => states.delete(socket));
    },
    stop: () => clearInterval(timer),
  };
}
