import { Agent, createServer, request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The remote calls of the bare servers. */
export type ServerCalls = {
  /** `directory` is for its files. */
  start(agentPort: number, directory: string): Promise<number>;
};

// Below the 5 s after which a Node server closes a connection, or a request is lost occasionally.
const pool = new Agent({ keepAlive: true, maxFreeSockets: 1024, timeout: 4_000 });

/**
 * The minimum of a Node proxy before a response arrives; `forward` forwards the response. Resolves to
 * its port.
 */
export function startProxy(
  agentPort: number,
  forward: (answered: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server = createServer((asked, response) => {
    const { method, url, headers } = asked;
    const options = {
      host: "127.0.0.1",
      port: agentPort,
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
