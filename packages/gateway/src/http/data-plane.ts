import type { Socket } from "node:net";
import type { Door } from "./access-control.js";
import type { HttpAnswer } from "./http-sink.js";
import { ANONYMOUS } from "../access/principal.js";
import { sendProblem } from "./problem.js";
import type { Problem } from "./problem.js";
import type { Surroundings } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { createAddressBook } from "./address-book.js";
import type { AddressBook } from "./address-book.js";
import { closeListener } from "./close-listener.js";
import type { ClosableListener } from "./close-listener.js";
import { allowOrigin, answerPreflight } from "./cors.js";
import { bearerOf } from "./credentials.js";
import { isAllowedOrigin, isForeignFetch, isOwnName } from "./origin.js";
import { routeRequest } from "./path.js";
import { refuse } from "./refuse.js";
import { requestUrl } from "./request-url.js";
import { serveRun } from "./run-route.js";
import type { HttpQuestion } from "./run-route.js";
import { isSaidTwice } from "./duplicate-header.js";
import { createListener } from "./server.js";
import type { TlsOptions } from "./server.js";
import { attachSockets } from "./socket/socket-route.js";
import { serveStop } from "./stop-route.js";
import { serveStream } from "./stream-route.js";
import { serveTicket } from "./ticket-route.js";
import { FOREIGN_PAGE, noteTurnedAway, UNKNOWN_AGENT } from "./rejected-request.js";

export type { TlsOptions } from "./server.js";

/** What `/readyz` says; everything but `ready` with status 503. */
export type Readiness = "ready" | "stopping" | "receipts unavailable" | "threads unavailable";

/** What the data plane needs beside the runs themselves. */
export type DataPlaneOptions = {
  readonly tls?: TlsOptions | undefined;
  /** Whether runs can be taken now, and if not, why. */
  readiness(): Readiness;
  /** Origins of pages that may call us from a browser. */
  readonly origins: ReadonlySet<string>;
  /** Who may do what, and how much of it. */
  readonly door: Door;
};

/** The listener agents' clients connect to. */
export function createDataPlane(around: Surroundings, options: DataPlaneOptions): ClosableListener {
  const book = createAddressBook(options.door.limits);
  const handle = (question: HttpQuestion, answer: HttpAnswer): void => {
    serve(around, options, book, question, answer).catch((error: unknown) =>
      refuse(around, answer, error),
    );
  };
  const server = createListener(options.tls, options.door.limits, handle);
  const sockets = attachSockets(around, server, { ...options, book });
  server.on("connection", (socket: Socket) => {
    if (!book.admitConnection(socket)) socket.destroy();
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
  around: Surroundings,
  options: DataPlaneOptions,
  book: AddressBook,
  question: HttpQuestion,
  answer: HttpAnswer,
): Promise<void> {
  const url = requestUrl(question.url);
  // RFC 9112 section 3.2 asks for the latter.
  if (url === undefined || isSaidTwice(question, "host")) {
    return sendProblem(answer, {
      status: 400,
      code: "BAD_ADDRESS",
      title: "The address cannot be read",
    });
  }
  const { origin, host, ":authority": authority } = question.headers;
  if (!isAllowedOrigin(origin, host ?? asText(authority), options.origins)) {
    return turnAway(around, answer, FOREIGN_PAGE, origin);
  }
  allowOrigin(question, answer, options.origins);
  if (question.method === "OPTIONS") return answerPreflight(question, answer, url.pathname);
  const { door } = options;
  const route = routeRequest(question.method ?? "GET", url.pathname);
  switch (route.kind) {
    case "run":
    case "stream":
    case "ticket": {
      book.admitRequest(question, (done) => answer.once("close", done));
      const named = route.kind === "run" ? route.agent : undefined;
      const upstream = findAgent(around, named ?? url.searchParams.get("agent"));
      if (upstream === undefined) {
        // Which agents there are is for those who may speak to them.
        await door.access.authenticate(bearerOf(question));
        return turnAway(around, answer, UNKNOWN_AGENT);
      }
      if (
        route.kind === "stream" &&
        (isForeignFetch(question.headers) ||
          (await isRebound(options, question, url, () => bearerOf(question))))
      ) {
        return turnAway(around, answer, FOREIGN_PAGE);
      }
      return ROUTES[route.kind](around, door, upstream, question, answer, url);
    }
    case "stop":
      return serveStop(around, door, question, answer, url);
    case "ping":
      return sendJson(answer, 200, {
        status: "Healthy",
        time_of_last_update: Math.floor(around.clock.now() / 1000),
      });
    case "health":
      return sendJson(answer, 200, { status: "ok" });
    case "ready": {
      const status = options.readiness();
      return sendJson(answer, status === "ready" ? 200 : 503, { status });
    }
    case "method":
      return sendProblem(
        answer,
        { status: 405, code: "METHOD_NOT_ALLOWED", title: `Use ${route.allow} here` },
        { allow: route.allow },
      );
    default:
      return sendProblem(answer, {
        status: 404,
        code: "NOT_FOUND",
        title: "There is nothing here",
      });
  }
}

/** Whether a stream is asked for by nobody we know, under a name that is not ours. */
async function isRebound(
  { door, origins }: DataPlaneOptions,
  { headers, socket }: HttpQuestion,
  url: URL,
  token: () => string | undefined,
): Promise<boolean> {
  const host = headers.host ?? asText(headers[":authority"]);
  if (headers.origin !== undefined || isOwnName(host, socket.localAddress, origins)) return false;
  // A page that has a credential or a ticket was given it.
  if (url.searchParams.has("ticket")) return false;
  return (await door.access.authenticate(token())).principal.id === ANONYMOUS.id;
}

const ROUTES = { run: serveRun, stream: serveStream, ticket: serveTicket } as const;

function asText(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function findAgent(around: Surroundings, name: string | null): Upstream | undefined {
  return name === null ? around.agents.fallback : around.agents.find(name);
}

/** Refuses a request before anything of it is read. */
function turnAway(
  around: Surroundings,
  answer: HttpAnswer,
  problem: Problem,
  origin?: string,
): void {
  noteTurnedAway(around, problem, origin);
  sendProblem(answer, problem);
}

function sendJson(answer: HttpAnswer, status: number, value: object): void {
  answer.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  answer.end(JSON.stringify(value));
}
