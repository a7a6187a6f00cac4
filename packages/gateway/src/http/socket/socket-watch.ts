import type { WebSocket } from "ws";

/** What the watch must know of a socket. */
export type Watched = {
  readonly socket: WebSocket;
  /** Whether a run is open on it. */
  isBusy(): boolean;
};

/** Looks after open sockets with one timer. */
export type SocketWatch = {
  add(watched: Watched): void;
  stop(): void;
};

type State = {
  readonly watched: Watched;
  usedAt: number;
  pingedAt: number;
  /** Pings without an answer. */
  open: number;
  /** Bytes that were not sent yet at the last ping. */
  buffered: number;
};

const GOING_AWAY = 1001;
const PING_MS = 15_000;
/** Pings that may stay without an answer before the other side counts as gone. */
const UNANSWERED = 3;

/**
 * Closes what nobody uses and cuts what nobody is behind.
 *
 * A laptop that was shut leaves its connection half open: only an answer to a ping tells it from one that
 * listens. Time is the process's own: a clock that is set right makes nobody idle.
 */
export function createSocketWatch(idleMs: number): SocketWatch {
  const states = new Map<WebSocket, State>();
  const look = (): void => {
    const now = performance.now();
    for (const [socket, state] of states) {
      if (state.watched.isBusy()) state.usedAt = now;
      if (state.open >= UNANSWERED) socket.terminate();
      else if (now - state.usedAt >= idleMs) socket.close(GOING_AWAY, "IDLE");
      else if (now - state.pingedAt >= PING_MS) {
        state.pingedAt = now;
        // While we do not read, or the reader is slow but gets on, an answer cannot be here yet.
        const isWaiting = socket.isPaused || socket.bufferedAmount < state.buffered;
        state.buffered = socket.bufferedAmount;
        state.open = isWaiting ? 0 : state.open + 1;
        socket.ping();
      }
    }
  };
  const timer = setInterval(look, Math.min(1000, Math.max(10, idleMs / 4)));
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
