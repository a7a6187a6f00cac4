import { parseJson } from "@countersign/core";
import { enforceInput } from "@countersign/wire/enforce";
import { encodeSse } from "@countersign/wire/sse";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Play } from "./script.js";
import type { SentActs } from "./sent.js";

const MAX_REQUEST_BYTES = 1024 * 1024;

/**
 * A support agent that needs no model: it plays its script over POST + SSE to any page on this machine.
 *
 * @param play the events of the agent for one request
 * @param acts keeps what the agent sends
 */
export function createDemoAgent(play: Play, acts: SentActs): Server {
  return createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "content-type, accept");
    if (request.method === "OPTIONS") {
      response.writeHead(204).end();
      return;
    }
    serve(request, response, play, acts).catch(() => {
      if (!response.headersSent) response.writeHead(400);
      response.end();
    });
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  play: Play,
  acts: SentActs,
): Promise<void> {
  const parts: Buffer[] = [];
  let total = 0;
  for await (const part of request) {
    total += (part as Buffer).byteLength;
    if (total > MAX_REQUEST_BYTES) throw new RangeError("request too large");
    parts.push(part as Buffer);
  }
  const { input } = enforceInput(parseJson(Buffer.concat(parts)));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const keep = acts.begin(input.runId);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  for (const step of play(input)) {
    if (response.destroyed) return;
    if (typeof step === "number") {
      await pause(step, undefined, { signal: gone.signal });
      continue;
    }
    keep(step);
    response.write(encodeSse(JSON.stringify(step)));
  }
  response.end();
}
