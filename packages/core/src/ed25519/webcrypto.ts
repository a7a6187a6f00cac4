import { CountersignError } from "../errors/error.js";

/** WebCrypto as the available type library declares it: the browser's or Node's. */
type Subtle = typeof globalThis.crypto.subtle;

/** A key in WebCrypto. */
export type WebCryptoKey = Parameters<Subtle["verify"]>[1];

/**
 * The runtime's WebCrypto; throws `ERR_ED25519_UNAVAILABLE` without one (e.g. a page without a
 * secure context).
 */
export function subtle(): Subtle {
  const crypto: typeof globalThis.crypto | undefined = globalThis.crypto;
  const found: Subtle | undefined = crypto?.subtle;
  if (found === undefined) throw unavailable();
  return found;
}

/**
 * The result of an operation; throws `ERR_ED25519_UNAVAILABLE` if WebCrypto does not support
 * Ed25519.
 */
export async function supported<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    const unknown = error instanceof DOMException && error.name === "NotSupportedError";
    throw unknown ? unavailable(error) : error;
  }
}

/** A copy whose buffer cannot change while an asynchronous operation reads it. */
export function asSource(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function unavailable(cause?: unknown): CountersignError {
  return new CountersignError(
    "ERR_ED25519_UNAVAILABLE",
    "this runtime has no Ed25519",
    {},
    { cause },
  );
}
