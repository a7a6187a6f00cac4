import { connect } from "node:net";

/** What came of one connection. */
export type Exchanged = {
  readonly bytes: Buffer;
  /** Nothing more came, and the other side did not let go either. */
  readonly hung: boolean;
  /** We closed our half first, so the answer need not be whole. */
  readonly gaveUp: boolean;
};

const HANG_MS = 15_000;

/**
 * Writes bytes to a port and reads until the other side closes.
 *
 * When nothing moves for a moment we close our half, as a browser does that goes away; a peer that keeps
 * the connection even then hangs.
 */
export function exchange(
  port: number,
  writes: readonly Uint8Array[],
  quietMs: number,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setNoDelay(true);
    let isDone = false;
    let gaveUp = false;
    const giveUp = (): void => {
      gaveUp = true;
      socket.end();
    };
    const finish = (hung: boolean): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(hanging);
      clearTimeout(quiet);
      socket.destroy();
      resolve({ bytes: Buffer.concat(received), hung, gaveUp });
    };
    const hanging = setTimeout(() => finish(true), HANG_MS);
    let quiet = setTimeout(giveUp, quietMs);
    socket.on("data", (chunk) => {
      received.push(chunk);
      clearTimeout(quiet);
      quiet = setTimeout(giveUp, quietMs);
    });
    socket.on("end", () => finish(false));
    socket.on("close", () => finish(false));
    socket.on("error", () => finish(false));
    void (async () => {
      for (const bytes of writes) {
        if (isDone) return;
        socket.write(bytes);
        await new Promise((next) => {
          setImmediate(next);
        });
      }
    })();
  });
}

/** The events in an HTTP answer with a stream; `undefined` when it is something else. */
export function streamedEvents(answer: Buffer): Record<string, unknown>[] | undefined {
  const text = answer.toString("utf8");
  const head = text.slice(0, text.indexOf("\r\n\r\n"));
  if (!head.startsWith("HTTP/1.1 200 ") || !/^content-type: text\/event-stream/imu.test(head)) {
    return undefined;
  }
  const body = answer.subarray(answer.indexOf("\r\n\r\n") + 4);
  const plain = /^transfer-encoding: chunked/imu.test(head) ? dechunk(body) : body;
  return plain
    .toString("utf8")
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice(6)) as Record<string, unknown>);
}

function dechunk(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = body.indexOf("\r\n", at);
    const size = end < 0 ? 0 : Number.parseInt(body.toString("latin1", at, end), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
}
