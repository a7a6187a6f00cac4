/**
 * The minimum of a Node proxy: parse HTTP, inspect nothing, forward every piece. On a WebSocket, a
 * message per SSE frame.
 */
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { RawData, WebSocket } from "ws";
import { serveCalls } from "./peer.js";
import { pool, startProxy } from "./proxy.js";
import type { ServerCalls } from "./proxy.js";

function relay(socket: WebSocket, input: RawData, agentPort: number): void {
  const headers = { "content-type": "application/json", "content-length": String(input).length };
  const options = { host: "127.0.0.1", port: agentPort, method: "POST", headers, agent: pool };
  const upward = request(options, (answered) => {
    let rest = "";
    answered.setEncoding("utf8");
    answered.on("data", (piece: string) => {
      const frames = (rest + piece).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) socket.send(frame.slice("data: ".length));
    });
  });
  upward.on("error", () => socket.terminate());
  upward.end(String(input));
}

function startRelay(agentPort: number): Promise<number> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4096 });
  server.on("connection", (socket) => {
    socket.on("message", (input) => relay(socket, input, agentPort));
  });
  return new Promise((resolve) => {
    server.once("listening", () => resolve((server.address() as AddressInfo).port));
  });
}

const calls: ServerCalls = {
  start: (place) =>
    place.transport === "websocket"
      ? startRelay(place.agentPort)
      : startProxy(place, (answered, response) => answered.pipe(response)),
};

serveCalls(calls);
