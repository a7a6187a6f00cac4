import { CountersignError } from "@countersign/core";
import type { WebSocket } from "ws";
import "./errors.js";
import { createIdleTimer } from "./idle-timer.js";
import type { UpstreamPiece, UpstreamTarget } from "./upstream.js";

/** What may wait to be judged before the socket is paused; bounds memory per stream. */
const MAX_QUEUED_FRAMES = 256;
const MAX_QUEUED_CHARACTERS = 1024 * 1024;

/** Turns socket events into a pulled sequence; a full queue pauses the socket. */
export function createFrameQueue(
  target: UpstreamTarget,
  socket: WebSocket,
  signal: AbortSignal,
): AsyncIterable<UpstreamPiece> {
  const frames: string[] = [];
  let characters = 0;
  let finished = false;
  let failure: CountersignError | undefined;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const broken = (reason: string): void => {
    failure ??= new CountersignError(
      "ERR_UPSTREAM_BROKEN",
      `the stream of agent ${target.name} broke off (${reason})`,
      { agent: target.name, reason },
    );
  };
  const idle = createIdleTimer(target, (error) => {
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

  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          while (frames.length > 0) {
            const text = frames.shift() ?? "";
            characters -= text.length;
            if (socket.isPaused && !isFull(0.5)) socket.resume();
            yield { kind: "frame", text };
          }
          if (finished) break;
          // Only the agent's silence counts, not the time a slow reader takes.
          idle.start();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          idle.stop();
        }
        if (failure !== undefined) throw failure;
      } finally {
        idle.end();
        socket.close();
      }
    },
  };
}
