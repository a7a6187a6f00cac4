import { CountersignError, sha256Hex } from "@countersign/core";
import type { Signal } from "@countersign/core";
import { acceptsProto } from "@countersign/wire/proto";
import type { Grant } from "../../access/access.js";
import type { AccessControl } from "../access-control.js";
import type { HttpResponse, HttpRequest } from "../exchange.js";
import type { ResumeRequest } from "./resume-request.js";
import type { OpenedRun } from "../../runs/start-run.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { Upstream } from "../../agent/upstream.js";
import { bearerOf } from "../credentials.js";
import "../../base/errors.js";
import { receiveBody } from "../receive-body.js";
import type { ResumableStream } from "./resumable-stream.js";
import { createHttpReader } from "./stream-reader.js";
import type { StreamReader } from "./stream-reader.js";

/** The `Last-Event-ID` of a resume request; `undefined` for a new stream. */
export function lastEventIdOf({ headers }: HttpRequest): string | undefined {
  const lastEventId = headers["last-event-id"];
  return typeof lastEventId === "string" ? lastEventId : undefined;
}

/** Whether a client reads a stream beside the connection that has it (`?view=1`). */
export function isViewerOf(url: URL): boolean {
  return url.searchParams.get("view") === "1";
}

/** How long a stream of another gateway may take to end with the credential that opened it, which only that gateway checks. */
const REMOTE_END_MS = 5000;

/**
 * Resumes a stream after the last event that its client has, at whichever gateway has it. A failure never starts a
 * run. The connection ends with its own credential; the stream stays, for a client that resumes it with a valid one.
 *
 * @throws CountersignError `ERR_STREAM_GONE`, the same for an unknown stream, an ended one and another principal's
 */
export async function resumeStream(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: Upstream,
  connection: { request: HttpRequest; response: HttpResponse; url: URL; gone: Signal },
  lastEventId: string,
): Promise<void> {
  const { request, response, url, gone } = connection;
  const { holder, grant } = await holderOf(accessControl, request, url);
  if (request.method === "POST") {
    // An unread body would keep the end of its connection from being noticed.
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = accessControl.limits;
    await receiveBody(request, { maxBytes, timeoutMs });
  }
  const found = await findStream(accessControl, {
    lastEventId,
    agent: upstream.target.name,
    holder,
    returnsForever: request.method === "GET",
    isViewer: isViewerOf(url),
  });
  // A later connection may have attached during the check; a closed one must not take the stream from it.
  if (gone.aborted) return;
  const encoding = acceptsProto(request.headers.accept) ? "proto" : "sse";
  const reader = createHttpReader(response, encoding, gone, found);
  found.attach(reader, gone);
  context.telemetry.reconnects.taken += 1;
  if (found.own === undefined) {
    context.heartbeats.add(reader);
    response.once("close", () => context.heartbeats.remove(reader));
  }
  if (grant === undefined) return;
  const end = (): void => {
    // The run ends for the same reason, and its last event tells the client.
    if (found.own?.holder.grant?.isValid() === false) return;
    setTimeout(() => response.destroy(), found.own === undefined ? REMOTE_END_MS : 0).unref();
  };
  const open = { grant, end };
  accessControl.openGrants.add(open);
  response.once("close", () => accessControl.openGrants.remove(open));
}

/** A stream that a client may resume. */
export type FoundStream = {
  readonly key: string;
  readonly sessionId: string;
  readonly run: OpenedRun;
  /** The stream, if this gateway has it. */
  readonly own: ResumableStream | undefined;
  /** Sends what follows the client's position to its new connection. */
  attach(reader: StreamReader, gone: Signal): void;
};

/**
 * Finds the stream of a resume request, here or among the shared ones.
 *
 * @throws CountersignError `ERR_STREAM_GONE`, `ERR_STREAM_UNREACHABLE`, `ERR_STREAM_LIMIT`
 */
export async function findStream(
  { resumableStreams, sharedStreams }: AccessControl,
  request: ResumeRequest,
): Promise<FoundStream> {
  const position = resumableStreams.findPosition(request);
  if (position !== undefined) {
    const { stream, after } = position;
    return {
      key: stream.key,
      sessionId: stream.holder.sessionId,
      run: stream.run,
      own: stream,
      attach: (reader, gone) => stream.attach(after, reader, gone, request.isViewer),
    };
  }
  // The copy of a stream of this gateway has no more than the stream itself.
  const isOwn = resumableStreams.has(request.lastEventId);
  const shared = isOwn ? undefined : await sharedStreams?.find(request);
  if (shared === undefined) {
    throw new CountersignError("ERR_STREAM_GONE", "no gateway holds this stream", {});
  }
  return {
    key: shared.key,
    sessionId: shared.sessionId,
    run: shared.run,
    own: undefined,
    attach: (reader, gone) => shared.follow(reader, gone),
  };
}

/** The client that resumes. Its ticket is not redeemed again, but compared with the one that opened the stream. */
async function holderOf(
  accessControl: AccessControl,
  request: HttpRequest,
  url: URL,
): Promise<{ holder: ResumeRequest["holder"]; grant?: Grant }> {
  const ticket = url.searchParams.get("ticket");
  if (ticket !== null) return { holder: { ticket: sha256Hex(ticket) } };
  const grant = await accessControl.access.authenticate(bearerOf(request));
  return { holder: { principal: grant.principal.id }, grant };
}
