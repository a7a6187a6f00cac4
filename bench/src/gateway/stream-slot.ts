import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { WebSocket } from "ws";
import { STAMP_DIGITS, STAMP_MARK, microseconds } from "./clock.js";
import { createResponseReader } from "./response-reader.js";
import type { Target } from "./work.js";

/** Callbacks of a connection for its runs; times in microseconds. */
export type SlotWatcher = {
  onFirst(waited: number): void;
  /** `since` is the time since the previous event; 0 for the first of a run. */
  onEvent(delay: number, since: number): void;
  onComplete(): void;
  onFailure(why: string): void;
};

/** One connection for one run after another. */
export type Slot = { ask(): void; hangUp(): void };

const RUN_FINISHED = "RUN_FINISHED";
const HEARTBEAT = ": heartbeat";

let runs = 0;

function inputOf(thread: string): string {
  const number = `${process.pid}-${runs++}`;
  return JSON.stringify({
    threadId: `${thread}-${number}`,
    runId: `run-${number}`,
    protocolVersion: "1.0",
    messages: [{ id: `question-${number}`, role: "user", content: "Which flights are there?" }],
    tools: [],
    context: [],
  });
}

function requestFor({ path, port }: Target, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** The part of a run that a connection delivers, and its methods. */
type Receiver = {
  onBody(piece: Buffer): void;
  /** `failure` unless the response had the expected form. */
  onEnd(failure?: string): void;
  onLost(why: string): void;
};
type Connection = { send(body: string): void; destroy(): void };

function connectHttp(target: Target, receiver: Receiver): Connection {
  const { port, transport } = target;
  const host = "127.0.0.1";
  const socket =
    transport === "tls"
      ? connectTls({ port, host, rejectUnauthorized: false })
      : connect(port, host);
  socket.setNoDelay(true);
  let status = 0;
  const read = createResponseReader({
    onHead: (answered) => {
      status = answered;
    },
    onBody: receiver.onBody,
    onEnd: () => receiver.onEnd(status === 200 ? undefined : String(status)),
  });
  socket.on("data", read);
  socket.on("error", (error) => receiver.onLost(String(error)));
  socket.on("close", () => receiver.onLost("the connection was closed in the middle of a run"));
  return {
    send: (body) => socket.write(requestFor(target, body)),
    destroy: () => socket.destroy(),
  };
}

/** A message per event; a run ends with RUN_FINISHED, or fails with RUN_ERROR. */
function connectWebSocket({ port, path }: Target, receiver: Receiver): Connection {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
  const isOpen = new Promise<void>((resolve) => {
    socket.once("open", resolve);
  });
  socket.on("message", (piece: Buffer) => {
    receiver.onBody(piece);
    if (piece.includes(RUN_FINISHED) || piece.includes("RUN_ERROR")) receiver.onEnd();
  });
  socket.on("error", (error) => receiver.onLost(String(error)));
  socket.on("close", () => receiver.onLost("the socket was closed in the middle of a run"));
  return {
    send: (body) => void isOpen.then(() => socket.send(body)),
    destroy: () => socket.terminate(),
  };
}

/** Connects; nothing is sent until `ask`. */
export function createSlot(target: Target, watcher: SlotWatcher, thread = "thread"): Slot {
  let askedAt = 0;
  let lastAt = 0;
  let isRunning = false;
  let hasFirst = false;
  let rest: Buffer | undefined;
  let lastPiece: Buffer = Buffer.alloc(0);
  let pieceBefore = lastPiece;

  const readStamps = (piece: Buffer, now: number): void => {
    const bytes = rest === undefined ? piece : Buffer.concat([rest, piece]);
    rest = undefined;
    for (let at = bytes.indexOf(STAMP_MARK); at !== -1; at = bytes.indexOf(STAMP_MARK, at + 1)) {
      if (at + 1 + STAMP_DIGITS > bytes.length) {
        rest = bytes.subarray(at);
        return;
      }
      const sentAt = Number(bytes.toString("latin1", at + 1, at + 1 + STAMP_DIGITS));
      watcher.onEvent(now - sentAt, lastAt === 0 ? 0 : now - lastAt);
      lastAt = now;
    }
  };
  const fail = (why: string): void => {
    if (!isRunning) return;
    isRunning = false;
    watcher.onFailure(why);
  };
  const open = target.transport === "websocket" ? connectWebSocket : connectHttp;
  const connection = open(target, {
    onBody: (piece) => {
      if (piece.toString("latin1", 0, HEARTBEAT.length) === HEARTBEAT) return;
      const now = microseconds();
      if (!hasFirst) {
        hasFirst = true;
        watcher.onFirst(now - askedAt);
      }
      readStamps(piece, now);
      pieceBefore = lastPiece;
      lastPiece = piece;
    },
    onEnd: (failure) => {
      const tail = Buffer.concat([pieceBefore, lastPiece]).toString("latin1");
      if (failure !== undefined || !tail.includes(RUN_FINISHED)) {
        fail(`${failure}: ${tail.slice(-300)}`);
        return;
      }
      isRunning = false;
      watcher.onComplete();
    },
    onLost: fail,
  });
  return {
    ask: () => {
      askedAt = microseconds();
      lastAt = 0;
      hasFirst = false;
      isRunning = true;
      connection.send(inputOf(thread));
    },
    hangUp: () => {
      isRunning = false;
      connection.destroy();
    },
  };
}
