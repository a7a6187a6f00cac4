import { BEARER_SUBPROTOCOL } from "@countersign/wire/websocket";
import type { IncomingMessage } from "node:http";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { Grant } from "../../access/access.js";
import { answerPings } from "../../base/answer-pings.js";
import type { AccessControl } from "../access-control.js";
import { problemOf } from "../refusal.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { Upstream } from "../../agent/upstream.js";
import type { AddressBook } from "../address-book.js";
import { clientDialectOf } from "../client-dialect.js";
import { socketTokenOf } from "../credentials.js";
import { hasBody, isDeclined, readAgain } from "./declined-upgrade.js";
import { isAllowedOrigin } from "../origin.js";
import { routeSocket } from "../path.js";
import { receiptRequestOf } from "../receipt-request.js";
import { challengeOf } from "../refuse.js";
import { requestUrl } from "../request-url.js";
import { traceparentOf } from "../run-route.js";
import { sessionOf } from "../session-id.js";
import { serveSocket } from "./socket-connection.js";
import type { SocketFacts } from "./socket-connection.js";
import { awaitGreeting, MAX_GREETING_BYTES } from "./socket-greeting.js";
import { noteRefusal } from "../../runs/run-watch.js";
import { answerRefusal, closeWith } from "./socket-refusal.js";
import { createSocketWatch } from "./socket-watch.js";
import { FOREIGN_PAGE, noteRejectedRequest, UNKNOWN_AGENT } from "../rejected-request.js";

/** The sockets of a listener. */
export type Sockets = {
  /** Says goodbye to every client; what is not gone soon is cut. */
  close(): void;
};

/** What sockets need of their listener. */
export type SocketOptions = {
  readonly origins: ReadonlySet<string>;
  readonly accessControl: AccessControl;
  readonly book: AddressBook;
};

/** What is known before anybody said who they are; an agent that is not there is told only then. */
type Upgrade = Omit<SocketFacts, "grant" | "token" | "early" | "upstream"> & {
  readonly upstream: Upstream | undefined;
};

const GOING_AWAY = 1001;
const GRACE_MS = 200;

/** Accepts WebSockets on the listener's known paths; anything else gets its HTTP answer. */
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
    // The name alone is selected: answering with the one that holds the token would echo it.
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
        noteRejectedRequest(context, UNKNOWN_AGENT);
        closeWith(socket, UNKNOWN_AGENT);
        cutSoon(socket, connection);
      } else {
        await claimSession(accessControl, upgrade, grant);
        const early = greeting?.early ?? [];
        open(socket, { ...upgrade, upstream, grant, token: greeting?.token, early });
      }
      socket.resume();
    } catch (error) {
      answerRefusal(context, socket, error);
      cutSoon(socket, connection);
      // A socket that is not read never hears the other side's goodbye.
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
    const { origin, host } = request.headers;
    const name = route.kind === "socket" ? (route.agent ?? url.searchParams.get("agent")) : null;
    const upstream = name === null ? context.agents.fallback : context.agents.find(name);
    if (route.kind === "unknown") return refuseUpgrade(connection, "404 Not Found");
    if (!isAllowedOrigin(origin, host, origins)) {
      noteRejectedRequest(context, FOREIGN_PAGE, origin);
      return refuseUpgrade(connection, "403 Forbidden");
    }
    let grant: Grant | undefined;
    const named = sessionOf(request, url);
    const upgrade: Upgrade = {
      upstream,
      sessionId: named ?? context.mintId("session"),
      isNamed: named !== undefined,
      clientDialect: clientDialectOf(request, url),
      receipts: receiptRequestOf(request, url),
      traceparent: traceparentOf(request),
      isSessionStream: url.pathname === "/ag-ui",
    };
    const token = socketTokenOf(request);
    book.admitRequest(request, (done) => void connection.once("close", done));
    // Whoever brings nothing, and needs something, says in the first frame who they are.
    if (token !== undefined || accessControl.access.allowsAnonymous) {
      grant = await accessControl.access.authenticate(token);
      if (upstream === undefined) {
        noteRejectedRequest(context, UNKNOWN_AGENT);
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
      noteRefusal(context, error);
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
  if (isNamed) await owners.own(sessionId, principal);
  else owners.claim(sessionId, principal);
}

/** Bytes that are still read of somebody who was told goodbye, and how long they may take to answer it. */
const LAST_BYTES = 4 * MAX_GREETING_BYTES;
const GOODBYE_MS = 2000;

/** Does not hold a stranger's unfinished frame for as long as a goodbye may take. */
function cutSoon(socket: WebSocket, connection: Duplex): void {
  let bytes = 0;
  connection.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > LAST_BYTES) socket.terminate();
  });
  setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
}

/** Answers in HTTP and hangs up, whatever the other side still says and whether or not it hangs up too. */
function refuseUpgrade(
  connection: Duplex,
  status: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.end(
    `HTTP/1.1 ${status}\r\n${lines.join("")}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
  // A connection that is not read never hears the other side's end.
  connection.resume();
  setTimeout(() => connection.destroy(), GOODBYE_MS).unref();
}
