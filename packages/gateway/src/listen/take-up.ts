import { CountersignError, sha256Hex } from "@countersign/core";
import type { Door } from "../access/door.js";
import { createHttpSink } from "../clients/http-sink.js";
import type { HttpAnswer } from "../clients/http-sink.js";
import type { StreamPlace } from "../reconnect/lasting-streams.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { Signal } from "../signal.js";
import { SESSION_HEADER } from "../upstream/session-header.js";
import type { Upstream } from "../upstream/upstream.js";
import { bearerOf } from "./credentials.js";
import "./errors.js";
import { receiveBody } from "./receive-body.js";
import type { HttpQuestion } from "./run-route.js";

/** The place in a stream that a client wants to go on from; undefined for one that begins. */
export function placeOf({ headers }: HttpQuestion): string | undefined {
  const place = headers["last-event-id"];
  return typeof place === "string" ? place : undefined;
}

/**
 * Goes on with a stream behind the last event that its client has. Whatever is in the way, no run is begun.
 *
 * Only its own principal gets it. Who comes from an address with a ticket shows the one that opened it: that is
 * used up, but the number of an event is known to nobody else.
 *
 * @throws CountersignError `ERR_STREAM_GONE`, the same whether it never was, is over, or is somebody else's
 */
export async function takeUpStream(
  around: Surroundings,
  door: Door,
  upstream: Upstream,
  connection: { question: HttpQuestion; answer: HttpAnswer; url: URL; gone: Signal },
  lastEventId: string,
): Promise<void> {
  const { question, answer, url, gone } = connection;
  const place = door.lasting.find(lastEventId);
  const ticket = url.searchParams.get("ticket");
  const isHolder =
    ticket === null
      ? isPrincipal(place, (await door.access.authenticate(bearerOf(question))).principal.id)
      : place?.stream.holder.ticket === sha256Hex(ticket);
  if (question.method === "POST") {
    // Left unread, it would keep the end of its connection from being noticed.
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = door.limits;
    await receiveBody(question, { maxBytes, timeoutMs });
  }
  const isOpen =
    isHolder &&
    place !== undefined &&
    place.stream.holder.agent === upstream.target.name &&
    place.stream.canGoOn(place.after) &&
    // An EventSource comes back even from the end of its run: then it must be told to stay away.
    !(question.method === "GET" && place.stream.isTold(place.after));
  if (!isOpen) {
    throw new CountersignError("ERR_STREAM_GONE", "nothing is kept of such a stream", {});
  }
  // Who came after this one, while it was looked at, has the stream: it is not taken away for nobody.
  if (gone.aborted) return;
  const { stream, after } = place;
  const headers = { [SESSION_HEADER]: stream.holder.sessionId };
  stream.takeUp(after, createHttpSink(answer, "sse", gone, headers), gone);
  around.telemetry.reconnects.taken += 1;
}

function isPrincipal(place: StreamPlace | undefined, principal: string): boolean {
  return place?.stream.holder.principal === principal;
}
