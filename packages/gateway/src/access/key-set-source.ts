import { readRegularFile } from "../base/read-regular-file.js";

/** Maximum size of a key set; real ones have a few thousand bytes. */
export const MAX_KEY_SET_BYTES = 256 * 1024;
const FETCH_TIMEOUT_MS = 5000;

/**
 * Fetches a key set. A redirect is an error: an open redirect on the issuer's host would decide where keys come from.
 */
export async function fetchKeySet(
  url: URL,
  options: { readonly timeoutMs?: number; readonly maxBytes?: number } = {},
): Promise<Uint8Array> {
  const { timeoutMs = FETCH_TIMEOUT_MS, maxBytes = MAX_KEY_SET_BYTES } = options;
  const response = await fetch(url, {
    redirect: "error",
    headers: { accept: "application/jwk-set+json, application/json" },
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new TypeError(`the key set was answered with ${response.status}`);
  }
  const parts: Uint8Array[] = [];
  let total = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    total += part.byteLength;
    if (total > maxBytes) throw new TypeError("the key set is too large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Reads a key set from a file. */
export async function readKeySetFile(file: string): Promise<Uint8Array> {
  return readRegularFile(file, MAX_KEY_SET_BYTES);
}
