import { CountersignError } from "@countersign/core";
import type { Signal } from "@countersign/core";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { urlToHttpOptions } from "node:url";
import "../base/errors.js";
import { HttpPieces } from "./http-pieces.js";
import { PROTO_MEDIA_TYPE, SSE_MEDIA_TYPE, mediaTypeOf } from "../base/media-type.js";
import { notAnswered, rejected, SESSION_HEADER, unreachable } from "./upstream.js";
import type {
  UpstreamConnection,
  UpstreamRequest,
  UpstreamStream,
  UpstreamTarget,
} from "./upstream.js";

/** The address of a target, as options of Node's HTTP client. */
type Address = Pick<ReturnType<typeof urlToHttpOptions>, "hostname" | "port">;

/** Headers that follow from a target's URL: its host, and Basic credentials if it has them. */
type OwnHeaders = Readonly<Record<string, string>>;

/** Pooled connections to one origin. Node's client follows no redirects, as intended. */
export type HttpPool = {
  readonly agent: HttpAgent | HttpsAgent;
  readonly address: Address;
  readonly ownHeaders: OwnHeaders;
  close(): void;
};

/**
 * How long an idle connection is kept. Common servers hang up after 5 s; a request sent at that moment is lost, and
 * sending it twice could run an agent twice.
 */
const FREE_SOCKET_MS = 4_000;

/**
 * The `Accept` header for each setting of `accept`. The official encoders ignore `q`, and some respond with empty
 * protobuf frames, so SSE is offered alone unless the configuration asks for protobuf.
 */
const ACCEPT: Readonly<Record<NonNullable<UpstreamTarget["accept"]>, string>> = {
  sse: SSE_MEDIA_TYPE,
  protobuf: `${PROTO_MEDIA_TYPE}, ${SSE_MEDIA_TYPE};q=0.5`,
};

/** Creates the pool for a target. */
export function createHttpPool(target: UpstreamTarget): HttpPool {
  const options = {
    keepAlive: true,
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: 64,
    timeout: FREE_SOCKET_MS,
  };
  const agent = target.url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  // Not all options: each stream would hold a copy of them, 800 bytes.
  const { hostname, port, auth } = urlToHttpOptions(target.url);
  const address: Address = { hostname, ...(port === undefined ? {} : { port }) };
  const ownHeaders: OwnHeaders = {
    host: target.url.host,
    ...(auth === undefined || auth === null ? {} : { authorization: basic(auth) }),
  };
  return { agent, address, ownHeaders, close: () => agent.destroy() };
}

function basic(auth: string): string {
  return `Basic ${Buffer.from(auth).toString("base64")}`;
}

/** Opens a connection for one request; its `send` returns the stream, or throws why there is none. */
export function connectHttpStream(
  target: UpstreamTarget,
  pool: HttpPool,
  request: UpstreamRequest,
  method: "GET" | "POST",
): UpstreamConnection {
  const accept = ACCEPT[target.accept ?? "sse"];
  const { send, close } = connect(target, pool, request, method, accept);
  const { signal } = request;
  return {
    send: async () => {
      const response = await send();
      const kind = streamKindOf(target, response);
      const pieces = new HttpPieces(target, response, kind, signal);
      return { headers: response.headers, pieces, endsByItself: true };
    },
    close,
  };
}

/** Sends one request and returns the stream, or throws why there is none. */
export async function openHttpStream(
  ...parameters: Parameters<typeof connectHttpStream>
): Promise<UpstreamStream> {
  return connectHttpStream(...parameters).send();
}

/** Sends one request and returns the whole answer, within its time limit. */
export async function requestHttp(
  target: UpstreamTarget,
  pool: HttpPool,
  request: Omit<UpstreamRequest, "body"> & { readonly body?: string | undefined },
  method: string,
  maxBytes: number,
): Promise<{ status: number; bytes: Uint8Array }> {
  const response = await connect(target, pool, request, method, "application/json").send();
  const late = setTimeout(() => response.destroy(notAnswered(target)), target.answerTimeoutMs);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response) {
      parts.push(part as Uint8Array);
      size += (part as Uint8Array).byteLength;
      if (size > maxBytes) throw tooLarge(target, maxBytes);
    }
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    throw unreachable(target, error as NodeJS.ErrnoException);
  } finally {
    clearTimeout(late);
  }
  return { status: response.statusCode ?? 0, bytes: Buffer.concat(parts) };
}

function tooLarge({ name: agent }: UpstreamTarget, maxBytes: number): CountersignError {
  const message = `agent ${agent} responded with more than ${maxBytes} bytes`;
  return new CountersignError("ERR_UPSTREAM_NOT_JSON", message, { agent, status: 200 });
}

function connect(
  target: UpstreamTarget,
  pool: HttpPool,
  request: Omit<UpstreamRequest, "body"> & { readonly body?: string | undefined },
  method: string,
  accept: string,
): { send(): Promise<IncomingMessage>; close(): void } {
  const hasBody = method !== "GET" && request.body !== undefined;
  const body = hasBody ? Buffer.from(request.body ?? "") : undefined;
  const send = target.url.protocol === "https:" ? httpsRequest : httpRequest;
  // A list is serialised at once; an object of headers would stay alive with each stream.
  const headers = Object.entries(headersOf(target, pool, request, body, accept)).flat();
  const { agent, address } = pool;
  const path = target.url.pathname + target.url.search;
  const begin = (): ClientRequest =>
    send({ ...address, path, method, agent, headers })
      .on("error", ignore)
      .once("response", hangUpEarly);
  let outgoing = begin();
  return {
    send: () => {
      // A kept connection may have closed meanwhile. Nothing was sent, so another one is safe.
      if (outgoing.destroyed) outgoing = begin();
      outgoing.off("response", hangUpEarly);
      const response = responseOf(target, outgoing, request.signal);
      outgoing.end(body);
      return response;
    },
    close: () => void outgoing.destroy(),
  };
}

/** A server may respond 408 to an idle connection: that is no response to the request. */
function hangUpEarly(response: IncomingMessage): void {
  response.on("error", ignore);
  response.destroy();
}

function headersOf(
  target: UpstreamTarget,
  { ownHeaders }: HttpPool,
  request: Omit<UpstreamRequest, "body">,
  body: Buffer | undefined,
  accept: string,
): Record<string, string> {
  return {
    ...ownHeaders,
    ...target.headers,
    accept,
    "accept-encoding": "identity",
    ...(request.authorization === undefined ? {} : { authorization: request.authorization }),
    [SESSION_HEADER]: request.sessionId,
    ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(body.byteLength) }),
  };
}

/** Waits for the response, and removes its own listeners once it has arrived. */
function responseOf(
  target: UpstreamTarget,
  outgoing: ClientRequest,
  signal: Signal,
): Promise<IncomingMessage> {
  const forget = abortWith(outgoing, signal);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      outgoing.destroy(notAnswered(target));
    }, target.answerTimeoutMs);
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      reject(error instanceof CountersignError ? error : unreachable(target, error));
    };
    const hangUp = (): void => fail({ name: "Error", message: "", code: "ECONNRESET" });
    outgoing.on("error", fail);
    // For a response that switches protocols Node's client emits neither a response nor an error; the run would wait
    // for ever.
    outgoing.on("close", hangUp);
    outgoing.once("response", (response) => {
      clearTimeout(timer);
      outgoing.off("error", fail);
      outgoing.off("close", hangUp);
      response.on("error", ignore);
      response.on("end", forget);
      resolve(response);
    });
  });
}

/**
 * Aborts the request with the signal; returns a function that detaches it once the connection is back in the pool.
 *
 * Not the client's own `signal` option: it also destroys a connection that is back in the pool, and the unhandled
 * error would end the process.
 */
function abortWith(outgoing: ClientRequest, signal: Signal): () => void {
  const abort = (): void => void outgoing.destroy();
  const forget = (): void => signal.removeEventListener("abort", abort);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  outgoing.on("close", forget);
  return forget;
}

function ignore(): void {}

function streamKindOf(target: UpstreamTarget, response: IncomingMessage): "sse" | "proto" {
  const refuse = (error: CountersignError): never => {
    response.destroy();
    throw error;
  };
  const status = response.statusCode ?? 0;
  if (status !== 200) return refuse(rejected(target, status));
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    return refuse(
      new CountersignError(
        "ERR_UPSTREAM_ENCODING",
        `agent ${target.name} compressed its stream although the gateway requested identity`,
        { agent: target.name, encoding },
      ),
    );
  }
  const contentType = mediaTypeOf(response.headers["content-type"]);
  if (contentType === SSE_MEDIA_TYPE) return "sse";
  if (contentType === PROTO_MEDIA_TYPE) return "proto";
  return refuse(
    new CountersignError(
      "ERR_UPSTREAM_NOT_A_STREAM",
      `agent ${target.name} responded with ${nameOfType(contentType)}, not an event stream`,
      { agent: target.name, contentType },
    ),
  );
}

/** Content types that agents and the proxies in front of them send by mistake. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  "application/grpc",
  "application/json",
  "application/octet-stream",
  "application/problem+json",
  "application/x-ndjson",
  "application/xml",
  "text/html",
  "text/plain",
]);

/** The message reaches the client, and no text of an agent may reach it unjudged: only known types are named. */
function nameOfType(contentType: string): string {
  if (contentType === "") return "without a content type";
  return KNOWN_TYPES.has(contentType) ? contentType : "with another content type";
}
