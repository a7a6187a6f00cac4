import { CountersignError, sha256Hex } from "@countersign/core";
import type { AccessControl } from "../access-control.js";
import type { HttpResponse } from "../exchange.js";
import type { ResumeRequest } from "./resume-request.js";
import { attach } from "./attach.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import type { Signal } from "../../base/signal.js";
import type { Upstream } from "../../agent/upstream.js";
import { bearerOf } from "../credentials.js";
import "../errors.js";
import { receiveBody } from "../receive-body.js";
import type { HttpRequest } from "../exchange.js";

/** The place in a stream that a client wants to go on from; undefined for one that begins. */
export function placeOf({ headers }: HttpRequest): string | undefined {
  const place = headers["last-event-id"];
  return typeof place === "string" ? place : undefined;
}

/**
 * Goes on with a stream behind the last event that its client has, at whichever gateway it is. Whatever is in the
 * way, no run is begun.
 *
 * @throws CountersignError `ERR_STREAM_GONE`, the same whether it never was, is over, or is somebody else's
 */
export async function resumeStream(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: Upstream,
  connection: { request: HttpRequest; response: HttpResponse; url: URL; gone: Signal },
  lastEventId: string,
): Promise<void> {
  const { request, response, url, gone } = connection;
  const back: ResumeRequest = {
    lastEventId,
    agent: upstream.target.name,
    holder: await holderOf(accessControl, request, url),
    returnsForever: request.method === "GET",
  };
  if (request.method === "POST") {
    // Left unread, it would keep the end of its connection from being noticed.
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = accessControl.limits;
    await receiveBody(request, { maxBytes, timeoutMs });
  }
  const place = accessControl.resumableStreams.placeFor(back);
  if (place !== undefined) attach(place, response, gone, context);
  else if ((await accessControl.relays?.passOn(back, response, gone)) !== true) {
    throw new CountersignError("ERR_STREAM_GONE", "nothing is kept of such a stream", {});
  }
}

/** Who comes back. A ticket is not redeemed again: it is held against the one that opened the stream. */
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
