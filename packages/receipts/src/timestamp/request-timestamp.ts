import { randomBytes } from "node:crypto";
import { CountersignError } from "@countersign/core";
import type { Certificate } from "pkijs";
import {
  encodeTimestampRequest,
  MAX_TIMESTAMP_BYTES,
  verifyTimestamp,
} from "./verify-timestamp.js";
import type { VerifiedTimestamp } from "./verify-timestamp.js";

/** A timestamp authority. */
export type TimestampAuthority = {
  readonly url: string;
  readonly anchors: readonly Certificate[];
  readonly timeoutMs: number;
};

/** A verified response. */
export type Timestamped = { readonly response: Uint8Array; readonly timestamp: VerifiedTimestamp };

/**
 * Obtains and verifies a timestamp over the text of a checkpoint.
 *
 * @throws CountersignError `ERR_TIMESTAMP`
 */
export async function requestTimestamp(
  { url, anchors, timeoutMs }: TimestampAuthority,
  text: string,
  signal: AbortSignal,
): Promise<Timestamped> {
  // A positive integer in its shortest form: the first byte is 1 to 127.
  const nonce = randomBytes(16);
  nonce[0] = 1 + ((nonce[0] ?? 0) % 127);
  const response = await post(url, encodeTimestampRequest(text, nonce), timeoutMs, signal);
  return { response, timestamp: await verifyTimestamp(response, text, anchors, nonce) };
}

function failed(reason: string, cause?: unknown): CountersignError {
  const message = `the timestamp authority did not date the checkpoint: ${reason}`;
  return new CountersignError("ERR_TIMESTAMP", message, { reason }, { cause });
}

async function post(
  url: string,
  body: Uint8Array,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const limit = AbortSignal.timeout(timeoutMs);
  let response: Response;
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/timestamp-query" },
      body: new Uint8Array(body),
      redirect: "error",
      signal: AbortSignal.any([limit, signal]),
    });
    for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > MAX_TIMESTAMP_BYTES) break;
      pieces.push(piece);
    }
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    throw failed(
      limit.aborted ? `no response within ${timeoutMs} ms` : (cause?.code ?? "not reachable"),
      error,
    );
  }
  if (response.status !== 200) throw failed(`status ${response.status}`);
  if (size > MAX_TIMESTAMP_BYTES) throw failed("the response is too large");
  return Buffer.concat(pieces);
}
