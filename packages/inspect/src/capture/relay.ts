import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { Recorder } from "./recorder.js";

/** Options of a relayed socket. */
export type RelayOptions = {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  readonly head: Buffer;
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly recorder: Recorder;
  /** Gets a function that ends the relay. */
  readonly closers: Set<() => void>;
};

const MAX_FRAME = 64 * 1024 * 1024;

/** Opens the agent's socket first, so that the client gets the sub-protocol that the agent selected. */
export function relayWebSocket({
  request,
  client,
  head,
  url,
  headers,
  recorder,
  closers,
}: RelayOptions): void {
  const connection = recorder.connection("WS", url.pathname);
  const offered = (request.headers["sec-websocket-protocol"] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const upstream = new WebSocket(url, offered, {
    headers,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
  });
  const refuse = (status: number): void => {
    connection.response(status, "");
    connection.end("cut");
    client.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    upstream.terminate();
  };
  upstream.on("unexpected-response", (_request, upstreamResponse) =>
    refuse(upstreamResponse.statusCode ?? 502),
  );
  upstream.on("error", () => {
    if (upstream.readyState === WebSocket.CONNECTING) refuse(502);
  });
  client.on("error", () => upstream.terminate());
  upstream.once("open", () => {
    connection.response(101, "");
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_FRAME,
      handleProtocols: () => (upstream.protocol === "" ? false : upstream.protocol),
    });
    server.handleUpgrade(request, client, head, (socket) => join(socket));
  });
  const join = (socket: WebSocket): void => {
    closers.add(() => {
      socket.terminate();
      upstream.terminate();
    });
    socket.on("message", (data, isBinary) => {
      if (!isBinary) connection.request(String(data));
      upstream.send(data, { binary: isBinary });
    });
    upstream.on("message", (data, isBinary) => {
      if (isBinary) connection.comment("a binary frame");
      else connection.frame(String(data));
      socket.send(data, { binary: isBinary });
    });
    upstream.on("close", (code, reason) => {
      connection.end(code === 1006 ? "cut" : "complete", code);
      // 1005 and 1006 only exist where they are observed; they cannot be sent.
      if (code === 1005 || code === 1006) socket.terminate();
      else socket.close(code, reason);
    });
    socket.on("close", (code) => {
      if (code === 1005 || code === 1006) upstream.close();
      else upstream.close(code);
    });
    socket.on("error", () => upstream.terminate());
  };
}
