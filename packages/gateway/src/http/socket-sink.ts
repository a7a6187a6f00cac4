import type { WebSocket } from "ws";
import { writeJson } from "@countersign/core";
import type { Signal } from "@countersign/core";
import { encodeTextFrame } from "@countersign/wire/websocket";
import { MAX_UNREAD_BEATS } from "../base/heartbeats.js";
import type { ClientSink } from "../event/sink.js";

/** Bytes that a socket may buffer before its reader counts as slow. */
const SLOW_BYTES = 256 * 1024;

/** The sink of one run on a socket; the socket stays open for the next run. */
export function createSocketSink(socket: WebSocket, gone: Signal): ClientSink {
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  gone.addEventListener("abort", wake, { once: true });
  let unanswered = 0;
  const answered = (): void => {
    unanswered = 0;
  };
  socket.on("pong", answered);
  const isSlow = (): boolean => socket.bufferedAmount > SLOW_BYTES && !gone.aborted;
  const send = (text: string): void => {
    socket.send(encodeTextFrame(text, "json"), () => {
      if (!isSlow()) wake();
    });
  };
  return {
    transport: "websocket",
    get isSlow() {
      return isSlow();
    },
    send: (events, texts = []) => {
      if (gone.aborted) return;
      for (const [index, event] of events.entries()) send(texts[index] ?? writeJson(event));
    },
    drained: () =>
      isSlow() ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve(),
    heartbeat: () => {
      if (gone.aborted) return;
      if (unanswered >= MAX_UNREAD_BEATS) return socket.terminate();
      unanswered += 1;
      socket.ping();
    },
    end: () => {
      gone.removeEventListener("abort", wake);
      socket.off("pong", answered);
    },
  };
}
