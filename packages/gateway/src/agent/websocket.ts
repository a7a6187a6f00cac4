import { DEFAULT_LIMITS } from "@countersign/core";
import type { Signal } from "@countersign/core";
import { WebSocket } from "ws";
import { answerPings } from "../base/heartbeats.js";
import { createFrameQueue } from "./frame-queue.js";
import { notAnswered, rejected, SESSION_HEADER, unreachable } from "./upstream.js";
import type { UpstreamRequest, UpstreamStream, UpstreamTarget } from "./upstream.js";

/** Bytes that may be buffered for an agent; its input alone may take most of them. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Opens one socket for one run and sends the input as its first frame. */
export async function openWebSocketStream(
  target: UpstreamTarget,
  request: UpstreamRequest,
): Promise<UpstreamStream> {
  const socket = createSocket(target, request);
  answerPings(socket);
  // Listens before the handshake completes: an agent may send frames in the same packet.
  const pieces = createFrameQueue(target, socket, request.signal);
  await opened(target, socket, request.signal);
  const send = (text: string): boolean => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) {
      // An agent that does not read: its client's messages would be buffered without limit.
      socket.terminate();
      return false;
    }
    socket.send(target.frames === "data" ? `data: ${text}\n\n` : text);
    return true;
  };
  // An agent of envelopes streams by itself; it accepts no input.
  if (target.dialect !== "chio") send(request.body);
  return { headers: {}, pieces, endsByItself: false, send };
}

function createSocket(target: UpstreamTarget, request: UpstreamRequest): WebSocket {
  const url = new URL(target.url);
  if (target.dialect === "chio") url.searchParams.set("session", request.sessionId);
  return new WebSocket(url, {
    headers: {
      ...target.headers,
      ...(request.authorization === undefined ? {} : { authorization: request.authorization }),
      [SESSION_HEADER]: request.sessionId,
      ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
    },
    followRedirects: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: DEFAULT_LIMITS.maxFrameBytes,
    handshakeTimeout: target.answerTimeoutMs,
  });
}

function opened(target: UpstreamTarget, socket: WebSocket, signal: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate();
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    socket.on("close", () => signal.removeEventListener("abort", abort));
    socket.once("open", resolve);
    socket.once("unexpected-response", (_request, response) => {
      socket.terminate();
      reject(rejected(target, response.statusCode ?? 0));
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // The library has no error code for its handshake timeout.
      const isTimeout = error.message === "Opening handshake has timed out";
      reject(isTimeout ? notAnswered(target) : unreachable(target, error));
    });
  });
}
