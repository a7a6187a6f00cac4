import { parseJson } from "@countersign/core";
import { enforceInput } from "@countersign/wire/enforce";
import { encodeSse } from "@countersign/wire/sse";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { playSupportAgent } from "./script.js";

const MAX_REQUEST_BYTES = 1024 * 1024;

/** A support agent that needs no model: it plays its script over POST + SSE to any page on this machine. */
export function createDemoAgent(): Server {
  return createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "content-type, accept");
    if (request.method === "OPTIONS") {
      response.writeHead(204).end();
      return;
    }
    serve(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(400);
      response.end();
    });
  });
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  let total = 0;
  for await (const part of request) {
    total += (part as Buffer).byteLength;
    if (total > MAX_REQUEST_BYTES) throw new RangeError("request too large");
    parts.push(part as Buffer);
  }
  const { input } = enforceInput(parseJson(Buffer.concat(parts)));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const step of playSupportAgent(input)) {
    if (response.destroyed) return;
    if (typeof step === "number") await pause(step);
    else response.write(encodeSse(JSON.stringify(step)));
  }
  response.end();
}
