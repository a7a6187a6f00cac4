import { CountersignError, sha256Hex } from "@countersign/core";
import type { Door } from "../access-control.js";
import type { HttpAnswer } from "../http-sink.js";
import type { ComingBack } from "./resume-request.js";
import { goOn } from "./attach.js";
import type { Surroundings } from "../../runs/gateway-context.js";
import type { Signal } from "../../base/signal.js";
import type { Upstream } from "../../agent/upstream.js";
import { bearerOf } from "../credentials.js";
import "../errors.js";
import { receiveBody } from "../receive-body.js";
import type { HttpQuestion } from "../run-route.js";

/** The place in a stream that a client wants to go on from; undefined for one that begins. */
export function placeOf({ headers }: HttpQuestion): string | undefined {
  const place = headers["last-event-id"];
  return typeof place === "string" ? place : undefined;
}

/**
 * Goes on with a stream behind the last event that its client has, at whichever gateway it is. Whatever is in the
 * way, no run is begun.
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
  const back: ComingBack = {
    lastEventId,
    agent: upstream.target.name,
    holder: await holderOf(door, question, url),
    returnsForever: question.method === "GET",
  };
  if (question.method === "POST") {
    // Left unread, it would keep the end of its connection from being noticed.
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = door.limits;
    await receiveBody(question, { maxBytes, timeoutMs });
  }
  const place = door.lasting.placeFor(back);
  if (place !== undefined) goOn(place, answer, gone, around);
  else if ((await door.relays?.passOn(back, answer, gone)) !== true) {
    throw new CountersignError("ERR_STREAM_GONE", "nothing is kept of such a stream", {});
  }
}

/** Who comes back. A ticket is not redeemed again: it is held against the one that opened the stream. */
async function holderOf(
  door: Door,
  question: HttpQuestion,
  url: URL,
): Promise<ComingBack["holder"]> {
  const ticket = url.searchParams.get("ticket");
  if (ticket !== null) return { ticket: sha256Hex(ticket) };
  const { principal } = await door.access.authenticate(bearerOf(question));
  return { principal: principal.id };
}
