import { CountersignError, sha256Hex } from "@countersign/core";
import type { Signal } from "@countersign/core";
import type { Grant } from "../../access/access.js";
import type { AccessControl } from "../access-control.js";
import type { HttpResponse, HttpRequest } from "../exchange.js";
import type { ResumeRequest } from "./resume-request.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
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

/** How long a relayed stream may take to end with the credential that opened it, which only its own gateway knows. */
const RELAYED_END_MS = 5000;

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
  const resume: ResumeRequest = {
    lastEventId,
    agent: upstream.target.name,
    holder,
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
  if (grant === undefined || gone.aborted) return;
  const end = (): void => {
    const opener = position?.stream.holder.grant;
    // The run ends for the same reason, and its last event tells the client.
    if (opener?.isValid() === false) return;
    setTimeout(() => response.destroy(), position === undefined ? RELAYED_END_MS : 0).unref();
  };
  const open = { grant, end };
  accessControl.openGrants.add(open);
  response.once("close", () => accessControl.openGrants.remove(open));
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
