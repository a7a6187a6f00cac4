import { parseJson, resolveLimits } from "@countersign/core";
import type { Limits } from "@countersign/core";
import { classifySseData } from "@countersign/wire/sse";
import { buildBearerSubprotocols, decodeTextFrame } from "@countersign/wire/websocket";
import { withParameters } from "./address.js";
import { connectError } from "./connect-error.js";
import { createFrameQueue } from "./frame-queue.js";
import type { FrameQueue } from "./frame-queue.js";
import type { Frame, Transport } from "./transport.js";

/** The part of a browser's `WebSocket` that is used. */
export type WebSocketLike = {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
};

/** Options of {@link webSocket}. */
export type WebSocketOptions = {
  readonly url: string;
  /** A bearer token, offered as a sub-protocol because browsers set no headers on a socket. */
  readonly token?: string | (() => string);
  /** Asks a gateway for the receipt of each event, to be verified by the store's `verifyReceipt`. */
  readonly receipts?: boolean;
  /**
   * Whether a broken stream is resumed on a new socket. Off by default: only a gateway can, and a run then continues
   * for a while without its client.
   */
  readonly resume?: boolean;
  readonly limits?: Partial<Limits>;
  /** In place of the global `WebSocket`, which Node has from version 22 on; that of the package `ws` fits. */
  readonly WebSocket?: new (url: string, protocols?: string[]) => WebSocketLike;
};

const OPEN = 1;

/**
 * Keeps one socket for a whole conversation: an input frame starts a run, a `STOP` frame stops it. A run
 * that starts while another goes on gets a socket of its own.
 */
export function webSocket(options: WebSocketOptions): Transport {
  const limits = resolveLimits(options.limits);
  const Socket = options.WebSocket ?? globalThis.WebSocket;
  if (Socket === undefined) {
    throw new TypeError(
      "this runtime has no WebSocket; pass a class as the option WebSocket, e.g. that of the package ws",
    );
  }
  const { url, receipts = false, resume = false } = options;
  const asked = {
    ...(receipts ? { receipts: "1" } : {}),
    ...(resume ? { reconnect: "1" } : {}),
  };
  const address = receipts || resume ? withParameters(url, asked) : url;
  const running = new Map<string, WebSocketLike>();
  let idle: WebSocketLike | undefined;

  function protocolsOf(): string[] | undefined {
    const token = typeof options.token === "function" ? options.token() : options.token;
    return token === undefined ? undefined : buildBearerSubprotocols(token);
  }

  /** A socket that is open; what fails here fails before anything was sent, so asking again is safe. */
  function connect(signal: AbortSignal, isResumed: boolean): Promise<WebSocketLike | undefined> {
    const kept = idle;
    idle = undefined;
    if (kept?.readyState === OPEN) return Promise.resolve(kept);
    return new Promise((resolve, reject) => {
      // An agent that sends without an input must not be asked a second time.
      const opened = isResumed ? withParameters(address, { resume: "1" }) : address;
      const socket = new Socket(opened, protocolsOf());
      const abort = (): void => socket.close();
      signal.addEventListener("abort", abort, { once: true });
      socket.onopen = () => {
        signal.removeEventListener("abort", abort);
        resolve(socket);
      };
      // The close event that always follows carries the reason.
      socket.onerror = () => {};
      socket.onclose = (({ code }: { code: number }) => {
        const facts = { transport: "websocket", status: code, notStarted: true };
        if (signal.aborted) resolve(undefined);
        else reject(connectError("the socket could not be opened", facts));
      }) as (event: never) => void;
    });
  }

  function listen(socket: WebSocketLike): FrameQueue {
    const queue = createFrameQueue(limits.maxHeldBytes);
    const number = resume ? createNumbering() : (frames: Frame[]) => frames;
    socket.onmessage = (({ data }: { data: unknown }) => {
      try {
        queue.push(number(framesOf(data, limits)));
      } catch (error) {
        queue.end(error);
      }
    }) as (event: never) => void;
    socket.onclose = () => queue.end();
    return queue;
  }

  return {
    name: "websocket",
    resumable: resume,
    shared: true,
    open: async function* ({ input, body, lastEventId, signal }) {
      if (signal.aborted) return;
      const socket = await connect(signal, lastEventId !== undefined);
      if (socket === undefined) return;
      const queue = listen(socket);
      const hangUp = (): void => queue.end();
      signal.addEventListener("abort", hangUp, { once: true });
      running.set(input.runId, socket);
      let isOver = false;
      try {
        const resumed = { type: "RESUME", id: lastEventId };
        socket.send(JSON.stringify(lastEventId === undefined ? body : resumed));
        for await (const batch of queue.read()) {
          isOver = true;
          yield batch;
          isOver = false;
        }
      } finally {
        signal.removeEventListener("abort", hangUp);
        running.delete(input.runId);
        // A reader that stops after the end of the run leaves the socket usable. Otherwise late
        // frames could not be told apart from the next run, so the socket is closed.
        const reusable = isOver && !signal.aborted && idle === undefined;
        socket.onmessage = null;
        if (reusable) idle = socket;
        else socket.close(1000);
      }
    },
    stop({ threadId, runId }) {
      running.get(runId)?.send(JSON.stringify({ type: "STOP", threadId, runId }));
    },
    close() {
      for (const socket of [...running.values(), idle]) socket?.close(1000);
    },
  };
}

/**
 * Gives events the ids from which a gateway resumes their stream. Frames of a socket have none: a frame
 * `{"type":"STREAM","id":"KEY.NUMBER"}` names the stream, and the events after it are counted.
 */
function createNumbering(): (frames: Frame[]) => Frame[] {
  let key: string | undefined;
  let number = 0;
  return (frames) =>
    frames.flatMap((frame) => {
      const position = positionIn(frame.json);
      if (position !== undefined) {
        ({ key, number } = position);
        return [];
      }
      if (key === undefined) return [frame];
      number += 1;
      return [{ ...frame, id: `${key}.${number}` }];
    });
}

const POSITION = /^(?<key>[\w-]{1,64})\.(?<number>\d{1,15})$/u;

function positionIn(json: string): { key: string; number: number } | undefined {
  if (!json.startsWith('{"type":"STREAM"')) return undefined;
  const { id } = parseJson(json) as { id?: unknown };
  const { key, number } = (typeof id === "string" ? POSITION.exec(id) : null)?.groups ?? {};
  return key === undefined ? undefined : { key, number: Number(number) };
}

function framesOf(data: unknown, limits: Limits): Frame[] {
  if (typeof data !== "string") {
    const facts = { transport: "websocket", notStarted: false };
    throw connectError("the agent sent a binary frame", facts);
  }
  const texts = decodeTextFrame(data, limits);
  return texts.filter((text) => classifySseData(text) === "event").map((json) => ({ json }));
}
