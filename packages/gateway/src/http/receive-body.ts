import { assertWithin, CountersignError, isCountersignError } from "@countersign/core";
import "../base/errors.js";
import type { HttpRequest } from "./exchange.js";
import type { Readable } from "node:stream";

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
        new CountersignError("ERR_REQUEST_TIMEOUT", "the request body did not arrive in time", {
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

/** Reads a whole request body, and rejects it as soon as it exceeds the limit. */
export async function readBody(request: Readable, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  // Without the option the iterator leaves its listeners behind, 1.2 KB for as long as the stream is open.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const bytes = part as Uint8Array;
    total += bytes.byteLength;
    if (total > maxBytes) {
      throw new CountersignError(
        "ERR_LIMIT_EXCEEDED",
        `the request is larger than ${maxBytes} bytes`,
        {
          limit: "maxInputBytes",
          allowed: maxBytes,
        },
      );
    }
    parts.push(bytes);
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}
