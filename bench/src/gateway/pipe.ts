/** The least a Node proxy can do: parse HTTP, look at nothing, pass every piece on. */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { answerCalls } from "./peer.js";

/** What the bare servers answer to. */
export type ServerCalls = { start(agentPort: number): Promise<number> };

// Below the 5 s after which a Node server hangs up, or a request is lost now and then.
const pool = new Agent({ keepAlive: true, maxFreeSockets: 1024, timeout: 4_000 });

const calls: ServerCalls = {
  start: (port) => {
    const server = createServer((asked, response) => {
      const { method, url, headers } = asked;
      const options = { host: "127.0.0.1", port, method, path: url, headers, agent: pool };
      const upward = request(options, (answered) => {
        response.writeHead(answered.statusCode ?? 502, answered.headers);
        response.flushHeaders();
        answered.pipe(response);
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
  },
};

answerCalls(calls);
