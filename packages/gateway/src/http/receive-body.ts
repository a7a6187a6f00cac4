import { assertWithin, CountersignError, isCountersignError } from "@countersign/core";
import { readBody } from "./body.js";
import "../base/errors.js";
import type { HttpRequest } from "./exchange.js";

/**
 * Reads a body within limits of size and time.
 *
 * HTTP/1.1 connections have a timer; an HTTP/2 stream has none, and a slow body would hold its memory for as long as
 * the client likes.
 */
export async function receiveBody(
  request: HttpRequest,
  bounds: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<Uint8Array> {
  // A declared length above the limit is rejected without reading.
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
    // The client closed the connection or sent invalid framing: not a defect of the gateway.
    throw new CountersignError("ERR_RUN_STOPPED", "the request broke off", {}, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
