import type { WebSocket } from "ws";
import { LightSignal, writeJson } from "@countersign/core";
import type { Signal } from "@countersign/core";
import { encodeTextFrame } from "@countersign/wire/websocket";
import { MAX_UNREAD_BEATS } from "../base/heartbeats.js";
import type { ClientSink } from "../event/sink.js";
import { writePosition } from "./resume/resume-request.js";
import type { StreamReader } from "./resume/stream-reader.js";

/** Bytes that a socket may buffer before its reader counts as slow. */
const SLOW_BYTES = 256 * 1024;

/** What one run sends on a socket; the socket stays open for the next run. */
type SocketWriter = Pick<ClientSink, "isSlow" | "drained" | "heartbeat" | "end"> & {
  write(text: string): void;
};

function createSocketWriter(socket: WebSocket, gone: Signal): SocketWriter {
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
  return {
    get isSlow() {
      return isSlow();
    },
    write: (text) => {
      if (gone.aborted) return;
      socket.send(encodeTextFrame(text, "json"), () => {
        if (!isSlow()) wake();
      });
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

/** The sink of one run on a socket. */
export function createSocketSink(socket: WebSocket, gone: Signal): ClientSink {
  const writer = createSocketWriter(socket, gone);
  return {
    transport: "websocket",
    get isSlow() {
      return writer.isSlow;
    },
    send: (events, texts = []) => {
      for (const [index, event] of events.entries()) writer.write(texts[index] ?? writeJson(event));
    },
    drained: writer.drained,
    heartbeat: writer.heartbeat,
    end: writer.end,
  };
}

/** A socket that reads a resumable stream. */
export type SocketReader = {
  readonly reader: StreamReader;
  /** Aborts when the socket is closed while it reads. */
  readonly left: Signal;
  /** Resolves when the stream has ended, or the socket is closed. */
  readonly ended: Promise<void>;
};

/**
 * Reads a resumable stream on a socket. A frame `{"type":"STREAM","id":…}` tells the client from which position it
 * reads; it counts the events from there.
 */
export function createSocketReader(socket: WebSocket, gone: Signal, key: string): SocketReader {
  const left = new LightSignal();
  const leave = (): void => left.abort();
  gone.addEventListener("abort", leave);
  if (gone.aborted) leave();
  const writer = createSocketWriter(socket, left);
  let settle = (): void => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  left.addEventListener("abort", settle);
  const reader: StreamReader = {
    get isSlow() {
      return writer.isSlow;
    },
    begin: (after) =>
      writer.write(JSON.stringify({ type: "STREAM", id: writePosition(key, after) })),
    write: (_first, texts) => {
      for (const text of texts) writer.write(text);
    },
    drained: writer.drained,
    heartbeat: writer.heartbeat,
    end: () => {
      writer.end();
      // The socket stays open for the next run.
      gone.removeEventListener("abort", leave);
      settle();
    },
    hangUp: () => socket.terminate(),
  };
  return { reader, left, ended };
}
