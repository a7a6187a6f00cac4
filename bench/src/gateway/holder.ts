/**
 * A bare Node server that opens event streams and holds them: the cost of a stream without a proxy.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveCalls } from "./peer.js";
import type { ServerCalls } from "./proxy.js";

const calls: ServerCalls = {
  start: () => {
    const server = createServer((asked, response) => {
      asked.resume();
      asked.on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write('data: {"type":"RUN_STARTED"}\n\n');
      });
    });
    return new Promise((resolve) => {
      server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
        resolve((server.address() as AddressInfo).port),
      );
    });
  },
};

serveCalls(calls);
