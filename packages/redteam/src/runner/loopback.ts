import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const MOST_CONNECTIONS = 64;

/** A server of an actor. */
export type LoopbackServer = { readonly url: string; close(): void };

/** Answers one request. What it throws ends the connection. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Listens on the loopback interface, on a free port when `port` is 0.
 *
 * Rejects with the system's error when it cannot listen there.
 */
export async function listenOnLoopback(handle: HttpHandler, port: number): Promise<LoopbackServer> {
  const server = createServer({ requestTimeout: 60_000 }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The body of a request as text; `undefined` when it is longer than allowed. */
export async function readBody(
  request: IncomingMessage,
  mostBytes: number,
): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > mostBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
