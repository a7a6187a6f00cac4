import { BEARER_SUBPROTOCOL } from "@countersign/wire/websocket";
import type { IncomingMessage } from "node:http";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { Grant } from "../../access/access.js";
import { answerPings } from "../../base/heartbeats.js";
import type { AccessControl } from "../access-control.js";
import { problemOf } from "../problem.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { Upstream } from "../../agent/upstream.js";
import type { AddressBook } from "../address-book.js";
import { asksToResume } from "../client-sink.js";
import { clientDialectOf, requestUrl, sessionOf } from "../exchange.js";
import { socketTokenOf } from "../credentials.js";
import { hasBody, isDeclined, readAgain } from "./declined-upgrade.js";
import { isAllowedOrigin } from "../origin.js";
import { routeSocket } from "../path.js";
import { receiptRequestOf } from "../receipt-request.js";
import {
  challengeOf,
  FOREIGN_PAGE,
  reportRejectedRequest,
  strangerOf,
  UNKNOWN_AGENT,
} from "../refuse.js";
import { traceparentOf } from "../run-route.js";
import { serveSocket } from "./socket-connection.js";
import type { SocketFacts } from "./socket-connection.js";
import { awaitGreeting, MAX_GREETING_BYTES } from "./socket-greeting.js";
import { noteRefusal } from "../../runs/run-watch.js";
import { sendRefusal, closeWith } from "./socket-refusal.js";
import { createSocketWatch } from "./socket-watch.js";

/** The sockets of a listener. */
export type Sockets = {
  /** Closes every socket, and terminates those that do not close in time. */
  close(): void;
};

/** Options of {@link attachSockets}. */
export type SocketOptions = {
  readonly origins: ReadonlySet<string>;
  readonly accessControl: AccessControl;
  readonly book: AddressBook;
};

/** Known before the client authenticates; an unknown agent is reported only after that. */
type Upgrade = Omit<SocketFacts, "grant" | "token" | "early" | "upstream"> & {
  readonly upstream: Upstream | undefined;
};

const GOING_AWAY = 1001;
const GRACE_MS = 200;

/** Accepts WebSockets on the listener's known paths; every other upgrade gets an HTTP response. */
export function attachSockets(
  context: GatewayContext,
  server: Server,
  options: SocketOptions,
): Sockets {
  const { accessControl, origins, book } = options;
  const watch = createSocketWatch(accessControl.limits.socketIdleMs);
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: accessControl.limits.frameBytes,
    // Selects the name alone: selecting the value that holds the token would echo it.
    handleProtocols: (offered) => (offered.has(BEARER_SUBPROTOCOL) ? BEARER_SUBPROTOCOL : false),
  });

  const open = (socket: WebSocket, facts: SocketFacts): void => {
    const { isBusy } = serveSocket(context, accessControl, socket, facts);
    context.telemetry.sockets.open += 1;
    socket.once("close", () => {
      context.telemetry.sockets.open -= 1;
    });
    watch.add({ socket, isBusy });
  };
  const greet = async (socket: WebSocket, connection: Duplex, upgrade: Upgrade): Promise<void> => {
    socket.on("error", () => socket.terminate());
    const greeting = await awaitGreeting(socket, connection, accessControl.limits.authTimeoutMs);
    try {
      const grant = await accessControl.access.authenticate(greeting?.token);
      const { upstream } = upgrade;
      if (upstream === undefined) {
        reportRejectedRequest(context, UNKNOWN_AGENT, upgrade.client);
        closeWith(socket, UNKNOWN_AGENT);
        terminateSoon(socket, connection);
      } else {
        await claimSession(accessControl, upgrade, grant);
        const early = greeting?.early ?? [];
        open(socket, { ...upgrade, upstream, grant, token: greeting?.token, early });
      }
      socket.resume();
    } catch (error) {
      sendRefusal(context, socket, error, upgrade.client);
      terminateSoon(socket, connection);
      // A paused socket never sees the peer's close frame.
      socket.resume();
    }
  };
  const accept = async (
    request: IncomingMessage,
    connection: Duplex,
    head: Buffer,
  ): Promise<void> => {
    if (hasBody(request)) return refuseUpgrade(connection, "400 Bad Request");
    const url = requestUrl(request.url);
    if (url === undefined) return refuseUpgrade(connection, "404 Not Found");
    const route = routeSocket(url.pathname);
    const client = strangerOf(context, accessControl, request, url);
    const { origin, host } = request.headers;
    const name = route.kind === "socket" ? (route.agent ?? url.searchParams.get("agent")) : null;
    const upstream = name === null ? context.agents.fallback : context.agents.find(name);
    if (route.kind === "unknown") return refuseUpgrade(connection, "404 Not Found");
    if (!isAllowedOrigin(origin, host, origins)) {
      reportRejectedRequest(context, FOREIGN_PAGE, client, origin);
      return refuseUpgrade(connection, "403 Forbidden");
    }
    let grant: Grant | undefined;
    const named = sessionOf(request, url);
    const upgrade: Upgrade = {
      upstream,
      sessionId: named ?? context.mintId("session"),
      isNamed: named !== undefined,
      clientAddress: accessControl.clientAddress(request),
      client: named === undefined ? client : { ...client, session: named },
      clientDialect: clientDialectOf(request, url),
      receipts: receiptRequestOf(request, url),
      traceparent: traceparentOf(request),
      // A client that resumes opens the socket for the stream that it has already.
      isSessionStream: url.pathname === "/ag-ui" && url.searchParams.get("resume") !== "1",
      isResumable: asksToResume(url),
    };
    const token = socketTokenOf(request);
    book.admitRequest(request, (done) => void connection.once("close", done));
    // A client without a credential, where one is required, authenticates with the first frame.
    if (token !== undefined || accessControl.access.allowsAnonymous) {
      grant = await accessControl.access.authenticate(token);
      if (upstream === undefined) {
        reportRejectedRequest(context, UNKNOWN_AGENT, client);
        return refuseUpgrade(connection, "404 Not Found");
      }
      await claimSession(accessControl, upgrade, grant);
    }
    if (connection.destroyed) return undefined;
    return sockets.handleUpgrade(request, connection, head, (socket) => {
      answerPings(socket);
      if (grant === undefined || upstream === undefined) void greet(socket, connection, upgrade);
      else open(socket, { ...upgrade, upstream, grant, token, early: [] });
    });
  };

  server.on("upgrade", (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    if (isDeclined(request)) {
      readAgain(server, request, connection, head);
      return;
    }
    // Without a listener, a peer that resets its connection would end the process.
    connection.on("error", () => connection.destroy());
    accept(request, connection, head).catch((error: unknown) => {
      const url = requestUrl(request.url);
      const client = url && strangerOf(context, accessControl, request, url);
      noteRefusal(context, error, client);
      const { status, title } = problemOf(error);
      refuseUpgrade(connection, `${status} ${title}`, challengeOf(error));
    });
  });
  return {
    close: () => {
      watch.stop();
      for (const socket of sockets.clients) {
        socket.close(GOING_AWAY);
        setTimeout(() => socket.terminate(), GRACE_MS).unref();
      }
    },
  };
}

async function claimSession(
  { owners }: AccessControl,
  { sessionId, isNamed }: Upgrade,
  { principal }: Grant,
): Promise<void> {
  if (isNamed) await owners.claim(sessionId, principal);
  else owners.rememberOwn(sessionId, principal);
}

/** Bytes that are still read from a client after a close, and how long it may take to answer. */
const LAST_BYTES = 4 * MAX_GREETING_BYTES;
const GOODBYE_MS = 2000;

/** Does not hold an unauthenticated client's unfinished frame for as long as a close may take. */
function terminateSoon(socket: WebSocket, connection: Duplex): void {
  let bytes = 0;
  connection.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > LAST_BYTES) socket.terminate();
  });
  setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
}

/** Responds in HTTP and closes the connection, whether or not the peer keeps sending or closes its side. */
function refuseUpgrade(
  connection: Duplex,
  status: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.end(
    `HTTP/1.1 ${status}\r\n${lines.join("")}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
  // A paused connection never sees the peer's end.
  connection.resume();
  setTimeout(() => connection.destroy(), GOODBYE_MS).unref();
}
