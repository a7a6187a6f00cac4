/**
 * A pipe that parses every event, hashes it, hashes a record of it and flushes that to disk before
 * it forwards the event: the minimum for an event log. It has no policy and no signatures, and its
 * records cannot be found again.
 */
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { openFlushedFile } from "./flushed-file.js";
import { serveCalls } from "./peer.js";
import { startProxy } from "./proxy.js";
import type { ServerCalls } from "./proxy.js";

/** A piece that waits for its flush; without one, the end of a response. */
type Waiting = { readonly response: ServerResponse; readonly piece?: Buffer };

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64");

function recordOf(line: string): string {
  const event = JSON.parse(line.slice("data:".length)) as { type: string };
  const record = JSON.stringify({ type: event.type, hash: sha256(JSON.stringify(event)), event });
  return `${sha256(record)} ${record}\n`;
}

function recordsOf(piece: Buffer): Buffer {
  const lines = piece.toString("utf8").split("\n");
  return Buffer.from(
    lines.map((line) => (line.startsWith("data:") ? recordOf(line) : "")).join(""),
  );
}

/** One flush at a time, for everything that arrived during the previous one. */
function createFlusher(directory: string): (one: Waiting) => void {
  const flush = openFlushedFile(join(directory, "kept"));
  let waiting: Waiting[] = [];
  let isBusy = false;
  const keepGroup = (): void => {
    const group = waiting;
    waiting = [];
    const records = group.flatMap(({ piece }) => (piece === undefined ? [] : recordsOf(piece)));
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

const calls: ServerCalls = {
  start: (place) => {
    const keep = createFlusher(place.directory);
    return startProxy(place, (answered, response) => {
      answered.on("data", (piece: Buffer) => keep({ response, piece }));
      answered.on("end", () => keep({ response }));
    });
  },
};

serveCalls(calls);
