import { Agent, createServer, request } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { writeCertificate } from "./certificate.js";
import type { Place } from "./variant.js";

/** The remote calls of the bare servers. */
export type ServerCalls = {
  /** Resolves to the port. */
  start(place: Place): Promise<number>;
};

/**
 * Kept connections to the agent; below the 5 s after which a Node server closes one, or a request
 * is lost occasionally.
 */
export const pool = new Agent({ keepAlive: true, maxFreeSockets: 1024, timeout: 4_000 });

function createListener({ transport, directory }: Place, handle: RequestListener) {
  if (transport !== "tls") return createServer(handle);
  const { cert, key } = writeCertificate(directory);
  return createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, handle);
}

/**
 * The minimum of a Node proxy before a response arrives; `forward` forwards the response. Resolves to
 * its port.
 */
export function startProxy(
  place: Place,
  forward: (answered: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server = createListener(place, (asked, response) => {
    const { method, url, headers } = asked;
    const options = {
      host: "127.0.0.1",
      port: place.agentPort,
      method,
      path: url,
      headers,
      agent: pool,
    };
    const upward = request(options, (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      response.flushHeaders();
      forward(answered, response);
    });
    upward.on("error", () => response.destroy());
    response.on("close", () => {
      if (!response.writableFinished) upward.destroy();
    });
    asked.pipe(upward);
  });
  return new Promise((resolve) => {
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });
}
