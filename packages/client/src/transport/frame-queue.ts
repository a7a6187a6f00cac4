import { assertWithin } from "@countersign/core";
import { LOST } from "./transport.js";
import type { Batch } from "./transport.js";

/** Carries what a socket pushes to a reader that pulls. */
export type FrameQueue = {
  push(frames: Batch): void;
  /** Ends the stream, with an error or without. What was pushed before still arrives. */
  end(error?: unknown): void;
  read(): AsyncGenerator<Batch, void, undefined>;
};

/**
 * Makes a queue for one stream.
 *
 * A WebSocket and an `EventSource` have no back-pressure, so what a slow reader leaves waiting is
 * bounded: over `maxHeld` characters the stream fails with `ERR_LIMIT_EXCEEDED`.
 */
export function createFrameQueue(maxHeld: number): FrameQueue {
  let waiting: Batch[number][] = [];
  let held = 0;
  let alive = false;
  let ended = false;
  let failure: unknown;
  let wake: (() => void) | undefined;

  function end(error?: unknown): void {
    if (ended) return;
    ended = true;
    failure = error;
    wake?.();
  }

  return {
    push(frames) {
      if (ended) return;
      alive = true;
      for (const frame of frames) {
        if (frame !== LOST) held += frame.json.length;
        waiting.push(frame);
      }
      try {
        assertWithin("maxHeldBytes", held, maxHeld);
      } catch (error) {
        waiting = [];
        end(error);
      }
      wake?.();
    },
    end,
    async *read() {
      for (;;) {
        if (waiting.length > 0 || alive) {
          const batch = waiting;
          waiting = [];
          held = 0;
          alive = false;
          yield batch;
        } else if (ended) {
          if (failure !== undefined) throw failure;
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
