import { assertWithin, CountersignError, isCountersignError } from "@countersign/core";
import { readBody } from "./body.js";
import "../inbound/errors.js";
import type { HttpRequest } from "./exchange.js";
import "./errors.js";

/**
 * Reads a body within bounds of size and time.
 *
 * HTTP/1.1 connections have a timer of their own; a stream of HTTP/2 has none, and a body that drips in
 * would hold its memory for as long as the sender likes.
 */
export async function receiveBody(
  request: HttpRequest,
  bounds: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<Uint8Array> {
  // What says of itself that it is too long is not waited for.
  const announced = Number(request.headers["content-length"] ?? 0);
  assertWithin("maxInputBytes", announced, bounds.maxBytes);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        new CountersignError("ERR_REQUEST_TIMEOUT", "the request was not whole in time", {
          milliseconds: bounds.timeoutMs,
        }),
      );
    }, bounds.timeoutMs);
  });
  try {
    return await Promise.race([readBody(request, bounds.maxBytes), late]);
  } catch (error) {
    if (isCountersignError(error)) throw error;
    // Hung up on, or framed so that no body can be told: a client's doing, and no defect of ours.
    throw new CountersignError("ERR_RUN_STOPPED", "the request broke off", {}, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
