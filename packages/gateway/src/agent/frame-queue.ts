import type { CountersignError, Signal } from "@countersign/core";
import type { WebSocket } from "ws";
import { IdleTimer } from "./idle-timer.js";
import { brokenOff } from "./upstream.js";
import type { UpstreamPieces, UpstreamTarget } from "./upstream.js";

/** Frames that may be queued before the socket is paused; bounds memory per stream. */
const MAX_QUEUED_FRAMES = 256;
const MAX_QUEUED_CHARACTERS = 1024 * 1024;

/** The frames of a socket; a full queue pauses it. */
export function createFrameQueue(
  target: UpstreamTarget,
  socket: WebSocket,
  signal: Signal,
): UpstreamPieces {
  const frames: string[] = [];
  let characters = 0;
  let finished = false;
  let failure: CountersignError | undefined;
  let ready: (() => void) | undefined;
  const notify = (): void => {
    const callback = ready;
    if (callback === undefined) return;
    ready = undefined;
    idle.stop();
    callback();
  };
  const broken = (reason: string): void => {
    failure ??= brokenOff(target, reason);
  };
  const idle = new IdleTimer(target, (error) => {
    failure ??= error;
    socket.terminate();
  });
  const isFull = (share: number): boolean =>
    frames.length >= MAX_QUEUED_FRAMES * share || characters >= MAX_QUEUED_CHARACTERS * share;

  socket.on("message", (data, isBinary) => {
    if (isBinary) {
      broken("binary frame");
      socket.close(1003);
      return;
    }
    // Frames that arrive between our close and the peer's are dropped.
    if (finished) return;
    const text = data.toString();
    frames.push(text);
    characters += text.length;
    if (isFull(1)) socket.pause();
    notify();
  });
  socket.on("error", (error: NodeJS.ErrnoException) => broken(error.code ?? error.name));
  socket.on("close", (code) => {
    if (code !== 1000 && code !== 1005 && !signal.aborted) broken(`close ${code}`);
    finished = true;
    notify();
  });

  const close = (): void => {
    finished = true;
    failure = undefined;
    frames.length = 0;
    characters = 0;
    ready = undefined;
    idle.end();
    socket.close();
    // A paused socket would not see the peer's close frame, and would stay open until the library's timeout.
    if (socket.isPaused) socket.resume();
  };
  return {
    whenReady: (callback) => {
      if (frames.length > 0 || finished) {
        callback();
        return;
      }
      // Only the agent's silence counts, not the time that a slow reader takes.
      idle.start();
      ready = callback;
    },
    take: () => {
      const text = frames.shift();
      if (text !== undefined) {
        characters -= text.length;
        if (socket.isPaused && !isFull(0.5)) socket.resume();
        return { kind: "frame", text };
      }
      if (!finished) return "nothing yet";
      const why = failure;
      close();
      if (why !== undefined) throw why;
      return "over";
    },
    close,
  };
}
