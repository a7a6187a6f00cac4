import type { Socket } from "node:net";
import type { AccessControl } from "./access-control.js";
import type { HttpResponse, HttpRequest } from "./exchange.js";
import { ANONYMOUS } from "../access/access.js";
import { sendProblem } from "./problem.js";
import type { Problem } from "./problem.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { createAddressBook } from "./address-book.js";
import type { AddressBook } from "./address-book.js";
import { closeListener } from "./listener.js";
import type { ClosableListener } from "./listener.js";
import { allowOrigin, respondToPreflight } from "./cors.js";
import { bearerOf } from "./credentials.js";
import { isAllowedOrigin, isForeignFetch, isOwnName } from "./origin.js";
import { routeRequest } from "./path.js";
import {
  refuse,
  FOREIGN_PAGE,
  reportRejectedRequest,
  strangerOf,
  TOO_MANY_CONNECTIONS,
  UNKNOWN_AGENT,
} from "./refuse.js";
import type { RefusalFacts } from "../runs/run-watch.js";
import { requestUrl, hasDuplicateHeader } from "./exchange.js";
import { serveRuntime } from "./copilotkit/serve-runtime.js";
import { serveRun } from "./run-route.js";
import { createListener } from "./server.js";
import type { TlsOptions } from "./server.js";
import { attachSockets } from "./socket/socket-route.js";
import { serveStop } from "./stop-route.js";
import { serveStream } from "./stream-route.js";
import { serveTicket } from "./ticket-route.js";

export type { TlsOptions } from "./server.js";

/** The body of `/readyz`; everything but `ready` has status 503. */
export type Readiness =
  | "ready"
  | "stopping"
  | "receipts unavailable"
  | "threads unavailable"
  | "redis unavailable";

/** The path of a request that has no valid one. */
const NO_PATH = new URL("http://gateway.invalid/");

/** A path that the gateway does not have. */
const NOT_FOUND: Problem = { status: 404, code: "NOT_FOUND", title: "Not found" };

/** Options of {@link createDataPlane}. */
export type DataPlaneOptions = {
  readonly tls?: TlsOptions | undefined;
  /** Whether the gateway accepts runs now, and if not, why. */
  readiness(): Readiness;
  /** Origins of pages that may call the gateway from a browser. */
  readonly origins: ReadonlySet<string>;
  /** Authentication, limits and session ownership. */
  readonly accessControl: AccessControl;
};

/** Creates the listener that clients connect to. */
export function createDataPlane(
  context: GatewayContext,
  options: DataPlaneOptions,
): ClosableListener {
  const book = createAddressBook(options.accessControl.limits);
  const handle = (request: HttpRequest, response: HttpResponse): void => {
    serve(context, options, book, request, response).catch((error: unknown) => {
      const url = requestUrl(request.url) ?? NO_PATH;
      refuse(context, response, error, strangerOf(context, options.accessControl, request, url));
    });
  };
  const server = createListener(options.tls, options.accessControl.limits, handle);
  const sockets = attachSockets(context, server, { ...options, book });
  server.on("connection", (socket: Socket) => {
    if (book.admitConnection(socket)) return;
    // A connection that closed already has no address, and is not refused.
    if (socket.remoteAddress !== undefined) {
      const stranger = { headers: {}, socket };
      const client = strangerOf(context, options.accessControl, stranger, NO_PATH);
      reportRejectedRequest(context, TOO_MANY_CONNECTIONS, client);
    }
    socket.destroy();
  });
  return {
    server,
    close: () => {
      sockets.close();
      return closeListener(server, () => book.connections());
    },
  };
}

async function serve(
  context: GatewayContext,
  options: DataPlaneOptions,
  book: AddressBook,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const url = requestUrl(request.url);
  // RFC 9112 section 3.2 requires a 400 for duplicate Host headers.
  if (url === undefined || hasDuplicateHeader(request, "host")) {
    return sendProblem(response, {
      status: 400,
      code: "BAD_ADDRESS",
      title: "Invalid address",
    });
  }
  const client = strangerOf(context, options.accessControl, request, url);
  const { origin, host, ":authority": authority } = request.headers;
  if (!isAllowedOrigin(origin, host ?? asText(authority), options.origins)) {
    return reject(context, response, FOREIGN_PAGE, client, origin);
  }
  allowOrigin(request, response, options.origins);
  if (request.method === "OPTIONS") return respondToPreflight(request, response, url.pathname);
  const { accessControl } = options;
  const route = routeRequest(request.method ?? "GET", url.pathname);
  switch (route.kind) {
    case "run":
    case "runtime":
    case "stream":
    case "ticket": {
      book.admitRequest(request, (done) => response.once("close", done));
      const named = route.kind === "run" || route.kind === "runtime" ? route.agent : undefined;
      const upstream = findAgent(context, named ?? url.searchParams.get("agent"));
      if (upstream === undefined) {
        // Only clients that may use the agents learn their names.
        await accessControl.access.authenticate(bearerOf(request));
        return reject(context, response, UNKNOWN_AGENT, client);
      }
      const path = route.kind === "runtime" ? route.path : undefined;
      const isOfRuntime = path !== undefined || (route.kind === "run" && route.agent !== undefined);
      const isGet = route.kind === "stream" || request.method === "GET";
      if (
        isGet &&
        (isForeignFetch(request.headers) ||
          (await isRebound(options, request, url, () => bearerOf(request))))
      ) {
        return reject(context, response, FOREIGN_PAGE, client);
      }
      if (isOfRuntime && upstream.runtime !== undefined) {
        const call = { request, response, url, path };
        return serveRuntime(
          context,
          accessControl,
          { ...upstream, runtime: upstream.runtime },
          call,
        );
      }
      if (route.kind === "runtime") {
        await accessControl.access.authenticate(bearerOf(request));
        return sendProblem(response, NOT_FOUND);
      }
      return ROUTES[route.kind](context, accessControl, upstream, request, response, url);
    }
    case "stop":
      return serveStop(context, accessControl, request, response, url);
    case "ping":
      return sendJson(response, 200, {
        status: "Healthy",
        time_of_last_update: Math.floor(context.clock.now() / 1000),
      });
    case "health":
      return sendJson(response, 200, { status: "ok" });
    case "ready": {
      const status = options.readiness();
      return sendJson(response, status === "ready" ? 200 : 503, { status });
    }
    case "method":
      return sendProblem(
        response,
        { status: 405, code: "METHOD_NOT_ALLOWED", title: `Use ${route.allow} here` },
        { allow: route.allow },
      );
    default:
      return sendProblem(response, NOT_FOUND);
  }
}

/** Whether an anonymous request for a stream names a host that is not ours (DNS rebinding). */
async function isRebound(
  { accessControl, origins }: DataPlaneOptions,
  { headers, socket }: HttpRequest,
  url: URL,
  token: () => string | undefined,
): Promise<boolean> {
  const host = headers.host ?? asText(headers[":authority"]);
  if (headers.origin !== undefined || isOwnName(host, socket.localAddress, origins)) return false;
  // A page that has a credential or a ticket was given it.
  if (url.searchParams.has("ticket")) return false;
  return (await accessControl.access.authenticate(token())).principal.id === ANONYMOUS.id;
}

const ROUTES = { run: serveRun, stream: serveStream, ticket: serveTicket } as const;

function asText(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function findAgent(context: GatewayContext, name: string | null): Upstream | undefined {
  return name === null ? context.agents.fallback : context.agents.find(name);
}

/** Rejects a request before its body is read. */
function reject(
  context: GatewayContext,
  response: HttpResponse,
  problem: Problem,
  client: RefusalFacts,
  origin?: string,
): void {
  reportRejectedRequest(context, problem, client, origin);
  sendProblem(response, problem);
}

function sendJson(response: HttpResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(value));
}
