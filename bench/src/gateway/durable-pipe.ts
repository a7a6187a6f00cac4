import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { openFlushedFile } from "./flushed-file.js";
import { serveCalls } from "./peer.js";
import { startProxy } from "./proxy.js";
import type { ServerCalls } from "./proxy.js";

/** A piece that waits for its flush; without one, the end of a response. */
type Waiting = { readonly response: ServerResponse; readonly piece?: Buffer };

/**
 * Runs this process as a pipe that flushes the output of `record` for every piece before it
 * forwards the piece.
 */
export function serveAsDurablePipe(record: (piece: Buffer) => Buffer): void {
  const calls: ServerCalls = {
    start: (agentPort, directory) => {
      const keep = createFlusher(directory, record);
      return startProxy(agentPort, (answered, response) => {
        answered.on("data", (piece: Buffer) => keep({ response, piece }));
        answered.on("end", () => keep({ response }));
      });
    },
  };
  serveCalls(calls);
}

/** One flush at a time, for everything that arrived during the previous one. */
function createFlusher(
  directory: string,
  record: (piece: Buffer) => Buffer,
): (one: Waiting) => void {
  const flush = openFlushedFile(join(directory, "kept"));
  let waiting: Waiting[] = [];
  let isBusy = false;
  const keepGroup = (): void => {
    const group = waiting;
    waiting = [];
    const records = group.flatMap(({ piece }) => (piece === undefined ? [] : record(piece)));
    flush(Buffer.concat(records), () => {
      for (const one of group) passOn(one);
      isBusy = waiting.length > 0;
      if (isBusy) setImmediate(keepGroup);
    });
  };
  return (one) => {
    waiting.push(one);
    if (isBusy) return;
    isBusy = true;
    setImmediate(keepGroup);
  };
}

function passOn({ response, piece }: Waiting): void {
  if (response.destroyed) return;
  if (piece === undefined) response.end();
  else response.write(piece);
}
