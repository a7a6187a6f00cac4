import { isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { RuntimeCall, RuntimeForm, StreamMethod } from "../../agent/runtime-calls.js";
import { STREAM_METHODS } from "../../agent/runtime-calls.js";
import type { RuntimeConnection, Upstream } from "../../agent/upstream.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { AccessControl } from "../access-control.js";
import { authorizationFor, bearerOf } from "../credentials.js";
import { sessionOf } from "../exchange.js";
import type { HttpRequest, HttpResponse } from "../exchange.js";
import { signalOfClose } from "../http-sink.js";
import { sendProblem } from "../problem.js";
import type { Problem } from "../problem.js";
import { receiveBody } from "../receive-body.js";
import { refuse, reportRejectedRequest, strangerOf } from "../refuse.js";
import { serveRun } from "../run-route.js";
import { readEnvelope, readPath } from "./read-call.js";
import type { ReadCall } from "./read-call.js";
import { runtimeInfo } from "./runtime-info.js";
import { stopThread } from "./stop-thread.js";

/** One request to the routes of a runtime; without a path it is an envelope for the single endpoint. */
export type RuntimeExchange = {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly url: URL;
  readonly path: string | undefined;
};

/** An agent that is a CopilotKit runtime. */
export type RuntimeUpstream = Upstream & { readonly runtime: RuntimeConnection };

const STREAMS: ReadonlySet<string> = new Set(STREAM_METHODS);

/**
 * Serves the routes of a CopilotKit runtime. A run, a connect and a suggestion are runs like any other, with another address of the agent.
 * All other routes exchange JSON, which is parsed and serialised again in both directions.
 */
export async function serveRuntime(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: RuntimeUpstream,
  exchange: RuntimeExchange,
): Promise<void> {
  const { request, response, url, path } = exchange;
  const { runtime, target } = upstream;
  const stranger = { ...strangerOf(context, accessControl, request, url), agent: target.name };
  const reject = (problem: Problem, headers?: Record<string, string>): void => {
    reportRejectedRequest(context, problem, stranger);
    sendProblem(response, problem, headers);
  };
  try {
    const { principal } = await accessControl.access.authenticate(bearerOf(request));
    const form: RuntimeForm = path === undefined ? "single" : "routes";
    const read =
      path === undefined
        ? readEnvelope(await readJson(context, accessControl, request))
        : readPath(request.method ?? "GET", path, url.search);
    if (!("call" in read)) return reject(...problemWith(read));
    const { call, body } = read;
    if ("agentId" in call && !runtime.agents.includes(call.agentId)) return reject(AGENT_CLOSED);
    if ("path" in call && !runtime.routes.has(call.method)) return reject(closed(call.method));
    if (isStream(call)) {
      const received = form === "single" ? Buffer.from(JSON.stringify(body ?? null)) : undefined;
      const agent = runtime.upstreamOf(call, form);
      return await serveRun(context, accessControl, agent, request, response, url, received);
    }
    const session = sessionOf(request, url);
    if (session !== undefined) accessControl.owners.check(session, principal);
    const sent = form === "single" ? body : await readOptionalJson(context, accessControl, request);
    const ask = (text: string | undefined): ReturnType<RuntimeConnection["ask"]> =>
      runtime.ask(call, form, {
        body: text,
        sessionId: session ?? context.mintId("session"),
        signal: signalOfClose(response),
        authorization: authorizationFor(upstream, bearerOf(request)),
      });
    if (call.method === "info") {
      const { status, value } = await ask(undefined);
      return sendJson(
        response,
        status,
        status === 200 ? runtimeInfo(value, runtime) : errorOf(value),
      );
    }
    if (call.method === "agent/stop") {
      const run = isJsonObject(sent ?? {}) ? ((sent ?? {}) as JsonObject)["runId"] : undefined;
      const order = {
        agent: target.name,
        thread: call.threadId,
        principal: principal.id,
        ...(session === undefined ? {} : { session }),
        ...(typeof run === "string" ? { run } : {}),
      };
      const { status, value } = await stopThread(context, order, ask);
      return sendJson(response, status, value);
    }
    const { status, value } = await ask(sent === undefined ? undefined : JSON.stringify(sent));
    context.journal.info(
      { ...stranger, route: call.method, status },
      "unjudged route of the runtime",
    );
    return sendJson(response, status, value);
  } catch (error) {
    refuse(context, response, error, stranger);
  }
}

function isStream(call: RuntimeCall): call is RuntimeCall & { method: StreamMethod } {
  return STREAMS.has(call.method);
}

async function readJson(
  context: GatewayContext,
  accessControl: AccessControl,
  request: HttpRequest,
): Promise<JsonValue> {
  const { maxInputBytes: maxBytes, maxDepth, maxInputValues: maxValues } = context.limits;
  const { bodyBytes, requestTimeoutMs: timeoutMs } = accessControl.limits;
  const bytes = await receiveBody(request, { maxBytes: bodyBytes, timeoutMs });
  // The envelope is one level above the input, and its members are two more values.
  return parseJson(bytes, { maxBytes, maxDepth: maxDepth + 1, maxValues: maxValues + 8 });
}

async function readOptionalJson(
  context: GatewayContext,
  accessControl: AccessControl,
  request: HttpRequest,
): Promise<JsonValue | undefined> {
  if (request.method === "GET") return undefined;
  const { headers } = request;
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) {
    return undefined;
  }
  return readJson(context, accessControl, request);
}

const AGENT_CLOSED: Problem = {
  status: 404,
  code: "RUNTIME_AGENT_CLOSED",
  title: "The gateway serves no such agent of the runtime",
};

function closed(route: string): Problem {
  return {
    status: 404,
    code: "RUNTIME_ROUTE_CLOSED",
    title: "The gateway does not serve this route of the runtime",
    detail: `add ${route} to the routes of this agent in countersign.yaml to open it`,
  };
}

/** The refusal of a request that names no call. */
function problemWith(
  read: Exclude<ReadCall, { call: unknown }>,
): [Problem, Record<string, string>?] {
  if ("allow" in read) {
    const title = `Use ${read.allow} here`;
    return [{ status: 405, code: "METHOD_NOT_ALLOWED", title }, { allow: read.allow }];
  }
  if ("unreadable" in read) {
    const title = "The body is not a call of the runtime";
    return [{ status: 400, code: "RUNTIME_CALL_UNREADABLE", title, detail: read.unreadable }];
  }
  const detail =
    "closed" in read ? `no setting opens ${read.closed}: its events are not judged` : undefined;
  return [
    {
      status: 404,
      code: "RUNTIME_ROUTE_UNKNOWN",
      title: "The gateway has no such route of the runtime",
      ...(detail === undefined ? {} : { detail }),
    },
  ];
}

/** The runtime's refusal, without details of the inside. */
function errorOf(value: JsonValue): JsonObject {
  const error = isJsonObject(value) ? value["error"] : undefined;
  return { error: typeof error === "string" ? error : "the runtime refused the request" };
}

function sendJson(response: HttpResponse, status: number, value: JsonValue): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(value));
}
