import type { Signal } from "@countersign/core";

/** Messages that may be queued before the socket is paused; it is resumed below half. */
const MAX_WAITING = 64;
/** The same in characters: a frame may have ten million, and a run takes as long to open as its agent likes. */
const MAX_WAITING_CHARACTERS = 1024 * 1024;

/** Handles the messages of a queue and pauses their sender. */
export type MessagePort = {
  /** Handles one message; never rejects. */
  handle(text: string): Promise<void>;
  /** Called with the change in the number of queued messages. */
  waits?(change: number): void;
  pause(): void;
  resume(): void;
};

/**
 * Handles messages one after the other, in the order they were sent.
 *
 * Each waits for its receipt, and a browser sends faster than a disk writes. Above the limit the socket is paused, so
 * that the sender's own buffers fill. Messages of a disconnected client are dropped.
 */
export function createMessageQueue(port: MessagePort, gone: Signal): (text: string) => void {
  let waiting: string[] = [];
  let characters = 0;
  let working = false;
  let paused = false;

  const work = async (): Promise<void> => {
    working = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      port.waits?.(-1);
      characters -= text.length;
      await port.handle(text);
      if (paused && waiting.length < MAX_WAITING / 2 && characters < MAX_WAITING_CHARACTERS / 2) {
        paused = false;
        port.resume();
      }
    }
    working = false;
  };
  gone.addEventListener("abort", () => {
    port.waits?.(-waiting.length);
    waiting = [];
    characters = 0;
  });
  return (text) => {
    if (gone.aborted) return;
    waiting.push(text);
    characters += text.length;
    port.waits?.(1);
    if (!working) void work();
    if (!paused && (waiting.length >= MAX_WAITING || characters >= MAX_WAITING_CHARACTERS)) {
      paused = true;
      port.pause();
    }
  };
}
