import { BEARER_SUBPROTOCOL } from "@countersign/wire/websocket";
import type { IncomingMessage } from "node:http";
import type { Server } from "node:net";
import { WebSocketServer } from "ws";
import type { Surroundings } from "../runs/surroundings.js";
import { clientDialectOf } from "./client-dialect.js";
import { isAllowedOrigin } from "./origin.js";
import { routeSocket } from "./path.js";
import { requestUrl } from "./request-url.js";
import { sessionOf } from "./session-id.js";
import { serveSocket } from "./socket-connection.js";

/** The sockets of a listener. */
export type Sockets = {
  /** Says goodbye to every client; what is not gone soon is cut. */
  close(): void;
};

const GOING_AWAY = 1001;
const GRACE_MS = 200;

/** Accepts WebSockets on the listener's known paths; anything else gets its HTTP answer. */
export function attachSockets(
  around: Surroundings,
  server: Server,
  origins: ReadonlySet<string>,
): Sockets {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: around.limits.maxInputBytes,
    // The name alone is selected: answering with the one that holds the token would echo it.
    handleProtocols: (offered) => (offered.has(BEARER_SUBPROTOCOL) ? BEARER_SUBPROTOCOL : false),
  });
  server.on("upgrade", (request: IncomingMessage, connection, head) => {
    // Without a listener, a peer that resets its connection would end the process.
    connection.on("error", () => connection.destroy());
    const url = requestUrl(request.url);
    if (url === undefined) return refuseUpgrade(connection, "404 Not Found");
    const route = routeSocket(url.pathname);
    const { origin, host } = request.headers;
    const name = route.kind === "socket" ? (route.agent ?? url.searchParams.get("agent")) : null;
    const upstream = name === null ? around.agents.fallback : around.agents.find(name);
    if (route.kind === "unknown" || upstream === undefined)
      return refuseUpgrade(connection, "404 Not Found");
    if (!isAllowedOrigin(origin, host, origins)) {
      return refuseUpgrade(connection, "403 Forbidden");
    }
    return sockets.handleUpgrade(request, connection, head, (socket) => {
      serveSocket(around, socket, {
        upstream,
        sessionId: sessionOf(request, url) ?? around.mintId("session"),
        clientDialect: clientDialectOf(request, url),
        isSessionStream: url.pathname === "/ag-ui",
      });
    });
  });
  return {
    close: () => {
      for (const socket of sockets.clients) {
        socket.close(GOING_AWAY);
        setTimeout(() => socket.terminate(), GRACE_MS).unref();
      }
    },
  };
}

function refuseUpgrade(connection: { end(text: string): void }, status: string): void {
  connection.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
