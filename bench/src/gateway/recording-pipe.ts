/**
 * A pipe that parses every event, hashes it, hashes a record of it and flushes that to disk before
 * it forwards the event: the minimum for an event log. It has no policy and no signatures, and its
 * records cannot be found again.
 */
import { createHash } from "node:crypto";
import { serveAsDurablePipe } from "./durable-pipe.js";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64");

function recordOf(line: string): string {
  const event = JSON.parse(line.slice("data:".length)) as { type: string };
  const record = JSON.stringify({ type: event.type, hash: sha256(JSON.stringify(event)), event });
  return `${sha256(record)} ${record}\n`;
}

serveAsDurablePipe((piece) => {
  const lines = piece.toString("utf8").split("\n");
  return Buffer.from(
    lines.map((line) => (line.startsWith("data:") ? recordOf(line) : "")).join(""),
  );
});
