import { createServer } from "node:http";
import type { Server as HttpServer } from "node:http";
import { createSecureServer } from "node:http2";
import type { Server, Socket } from "node:net";
import type { HttpAnswer } from "../clients/http-sink.js";
import { sendProblem } from "../clients/problem.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { Upstream } from "../upstream/upstream.js";
import { isAllowedOrigin } from "./origin.js";
import { routeRequest } from "./path.js";
import { requestUrl } from "./request-url.js";
import { refuse, serveRun } from "./run-route.js";
import type { HttpQuestion } from "./run-route.js";
import { attachSockets } from "./socket-route.js";
import { serveStop } from "./stop-route.js";
import { serveStream } from "./stream-route.js";

/** Certificates; with them the listener speaks HTTP/2 and HTTP/1.1 over TLS. */
export type TlsOptions = { readonly cert: string; readonly key: string };

/** What the data plane needs beside the runs themselves. */
export type DataPlaneOptions = {
  readonly tls?: TlsOptions | undefined;
  /** Whether decisions can be recorded now. */
  isReady(): boolean;
  /** Origins of pages that may call us from a browser. */
  readonly origins: ReadonlySet<string>;
};

const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;

/** A listener and the way to end what is open on it. */
export type DataPlane = {
  readonly server: Server;
  /** Stops listening, says goodbye to whoever is connected, and resolves when all are gone. */
  close(): Promise<void>;
};

const GRACE_MS = 200;

/** The listener agents' clients connect to. */
export function createDataPlane(around: Surroundings, options: DataPlaneOptions): DataPlane {
  const handle = (question: HttpQuestion, answer: HttpAnswer): void => {
    serve(around, options, question, answer).catch((error: unknown) => refuse(answer, error));
  };
  const server =
    options.tls === undefined
      ? createServer(
          { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS, noDelay: true },
          handle,
        )
      : createSecureServer({ ...options.tls, allowHTTP1: true }, handle);
  const sockets = attachSockets(around, server, options.origins);
  // HTTP/2 sessions and upgraded sockets are no HTTP/1.1 connections: only their own list has them.
  const connections = new Set<Socket>();
  server.on(options.tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        sockets.close();
        if ("closeIdleConnections" in server) (server as HttpServer).closeIdleConnections();
        setTimeout(() => {
          for (const socket of connections) socket.destroy();
        }, GRACE_MS).unref();
      }),
  };
}

async function serve(
  around: Surroundings,
  options: DataPlaneOptions,
  question: HttpQuestion,
  answer: HttpAnswer,
): Promise<void> {
  const url = requestUrl(question.url);
  if (url === undefined) {
    return sendProblem(answer, {
      status: 400,
      code: "BAD_ADDRESS",
      title: "The address cannot be read",
    });
  }
  const { origin, host, ":authority": authority } = question.headers;
  if (!isAllowedOrigin(origin, host ?? asText(authority), options.origins)) {
    return sendProblem(answer, {
      status: 403,
      code: "ORIGIN_NOT_ALLOWED",
      title: "Pages of this origin may not call the gateway; list it under origins",
    });
  }
  allowOrigin(question, answer, options.origins);
  if (question.method === "OPTIONS") {
    answer.writeHead(204).end();
    return;
  }
  const route = routeRequest(question.method ?? "GET", url.pathname);
  switch (route.kind) {
    case "run": {
      const upstream = findAgent(around, route.agent ?? url.searchParams.get("agent"));
      if (upstream === undefined) return unknownAgent(answer);
      return serveRun(around, upstream, question, answer, url);
    }
    case "stream": {
      const upstream = findAgent(around, url.searchParams.get("agent"));
      if (upstream === undefined) return unknownAgent(answer);
      return serveStream(around, upstream, question, answer, url);
    }
    case "stop":
      return serveStop(around, question, answer, url);
    case "ping":
      return sendJson(answer, 200, {
        status: "Healthy",
        time_of_last_update: Math.floor(around.clock.now() / 1000),
      });
    case "health":
      return sendJson(answer, 200, { status: "ok" });
    case "ready":
      return sendJson(answer, options.isReady() ? 200 : 503, {
        status: options.isReady() ? "ready" : "receipts unavailable",
      });
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

function asText(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function findAgent(around: Surroundings, name: string | null): Upstream | undefined {
  return name === null ? around.agents.fallback : around.agents.find(name);
}

function unknownAgent(answer: HttpAnswer): void {
  sendProblem(answer, {
    status: 404,
    code: "AGENT_UNKNOWN",
    title: "No agent of that name is configured",
  });
}

function sendJson(answer: HttpAnswer, status: number, value: object): void {
  answer.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  answer.end(JSON.stringify(value));
}

/** Browsers may call from the origins the configuration lists; nobody else's page gets an answer it can read. */
function allowOrigin(
  question: HttpQuestion,
  answer: HttpAnswer,
  origins: ReadonlySet<string>,
): void {
  const { origin } = question.headers;
  if (origin === undefined) return;
  answer.setHeader("vary", "origin");
  if (!origins.has(origin)) return;
  answer.setHeader("access-control-allow-origin", origin);
  answer.setHeader("access-control-allow-methods", "GET, POST, OPTIONS");
  answer.setHeader(
    "access-control-allow-headers",
    "content-type, accept, authorization, countersign-dialect, x-amzn-bedrock-agentcore-runtime-session-id",
  );
  answer.setHeader("access-control-max-age", "600");
}
