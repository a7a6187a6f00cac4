import { CountersignError, sha256Hex } from "@countersign/core";
import type { AccessControl } from "../access-control.js";
import type { HttpResponse, HttpRequest } from "../exchange.js";
import type { ResumeRequest } from "./resume-request.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { Signal } from "../../base/signal.js";
import type { Upstream } from "../../agent/upstream.js";
import { bearerOf } from "../credentials.js";
import "../../base/errors.js";
import { receiveBody } from "../receive-body.js";
import { createHttpSink } from "../http-sink.js";
import type { Telemetry } from "../../telemetry/telemetry.js";
import { SESSION_HEADER } from "../../agent/upstream.js";
import type { StreamPosition } from "./resumable-streams.js";

/** The `Last-Event-ID` of a resume request; `undefined` for a new stream. */
export function lastEventIdOf({ headers }: HttpRequest): string | undefined {
  const lastEventId = headers["last-event-id"];
  return typeof lastEventId === "string" ? lastEventId : undefined;
}

/**
 * Resumes a stream after the last event that its client has, at whichever gateway has it. A failure never starts a
 * run.
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
  const resume: ResumeRequest = {
    lastEventId,
    agent: upstream.target.name,
    holder: await holderOf(accessControl, request, url),
    returnsForever: request.method === "GET",
  };
  if (request.method === "POST") {
    // An unread body would keep the end of its connection from being noticed.
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = accessControl.limits;
    await receiveBody(request, { maxBytes, timeoutMs });
  }
  const position = accessControl.resumableStreams.findPosition(resume);
  if (position !== undefined) attach(position, response, gone, context);
  else if ((await accessControl.relays?.relay(resume, response, gone)) !== true) {
    throw new CountersignError("ERR_STREAM_GONE", "no gateway holds this stream", {});
  }
}

/** The client that resumes. Its ticket is not redeemed again, but compared with the one that opened the stream. */
async function holderOf(
  accessControl: AccessControl,
  request: HttpRequest,
  url: URL,
): Promise<ResumeRequest["holder"]> {
  const ticket = url.searchParams.get("ticket");
  if (ticket !== null) return { ticket: sha256Hex(ticket) };
  const { principal } = await accessControl.access.authenticate(bearerOf(request));
  return { principal: principal.id };
}

/** Attaches a new connection to a stream: its client's, or another gateway's on its behalf. */
export function attach(
  { stream, after }: StreamPosition,
  response: HttpResponse,
  gone: Signal,
  context: { readonly telemetry: Pick<Telemetry, "reconnects"> },
): void {
  // A later connection may have attached during the check; a closed one must not take the stream from it.
  if (gone.aborted) return;
  const headers = { [SESSION_HEADER]: stream.holder.sessionId };
  stream.attach(after, createHttpSink(response, "sse", gone, headers), gone);
  context.telemetry.reconnects.taken += 1;
}
