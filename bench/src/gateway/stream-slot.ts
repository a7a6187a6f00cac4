import { connect } from "node:net";
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

let runs = 0;

function requestFor(target: Target, thread: string): string {
  const number = `${process.pid}-${runs++}`;
  const body = JSON.stringify({
    threadId: `${thread}-${number}`,
    runId: `run-${number}`,
    protocolVersion: "1.0",
    messages: [{ id: `question-${number}`, role: "user", content: "Which flights are there?" }],
    tools: [],
    context: [],
  });
  return (
    `POST ${target.path} HTTP/1.1\r\nhost: 127.0.0.1:${target.port}\r\naccept: text/event-stream\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Connects; nothing is sent until `ask`. */
export function createSlot(target: Target, watcher: SlotWatcher, thread = "thread"): Slot {
  const socket = connect(target.port, "127.0.0.1");
  socket.setNoDelay(true);
  let askedAt = 0;
  let lastAt = 0;
  let status = 0;
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
  const read = createResponseReader({
    onHead: (answered) => {
      status = answered;
    },
    onBody: (piece) => {
      const now = microseconds();
      if (!hasFirst) {
        hasFirst = true;
        watcher.onFirst(now - askedAt);
      }
      readStamps(piece, now);
      pieceBefore = lastPiece;
      lastPiece = piece;
    },
    onEnd: () => {
      const tail = Buffer.concat([pieceBefore, lastPiece]).toString("latin1");
      if (status !== 200 || !tail.includes("RUN_FINISHED")) {
        fail(`${status}: ${tail.slice(-300)}`);
        return;
      }
      isRunning = false;
      watcher.onComplete();
    },
  });
  socket.on("data", read);
  socket.on("error", (error) => fail(String(error)));
  socket.on("close", () => fail("the connection was closed in the middle of a run"));
  return {
    ask: () => {
      askedAt = microseconds();
      lastAt = 0;
      hasFirst = false;
      isRunning = true;
      socket.write(requestFor(target, thread));
    },
    hangUp: () => {
      isRunning = false;
      socket.destroy();
    },
  };
}
