import { CountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { calculateJwkThumbprint, createLocalJWKSet, errors, exportJWK } from "jose";
import type { CryptoKey, FlattenedJWSInput, JWK, JWSHeaderParameters } from "jose";
import type { Clock } from "../base/ports.js";
import "../base/errors.js";
import { readRegularFile } from "../base/files.js";

/** Finds the key that a token names; the signature that `jose` expects. */
export type KeyOf = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** The keys of an issuer, as they were last fetched. */
export type KeySet = {
  readonly keyOf: KeyOf;
  /**
   * Whether the issuer still publishes the key of this RFC 7638 thumbprint. Fetches the set again in the background when
   * it is due. While it cannot be fetched, the last answer stays: an outage of the issuer ends no open stream.
   */
  hasKey(thumbprint: string): boolean;
  /** True while the set cannot be fetched. */
  readonly isStale: boolean;
};

/** The source of an issuer's keys, and how long they may be used. */
export type KeySetOptions = {
  readonly issuer: string;
  readonly clock: Clock;
  /** Loads the bytes of the set; rejects when they are unavailable. */
  load(): Promise<Uint8Array>;
  /** Milliseconds after which the set is fetched again. */
  readonly cacheMs: number;
  /** Minimum milliseconds between two fetches, for any reason. */
  readonly cooldownMs: number;
  /** Milliseconds for which the last valid set is used while fetching fails. */
  readonly staleMs: number;
  /** Called once when fetching starts to fail, and once when it succeeds again. */
  onAvailabilityChange?(failure: Error | undefined): void;
};

const MAX_KEYS = 100;
const ASYMMETRIC: ReadonlySet<JsonValue | undefined> = new Set(["RSA", "EC", "OKP"]);

/**
 * The keys of an issuer, refreshed.
 *
 * A token with an unknown key id triggers a fetch, because issuers rotate keys without notice. At most one fetch
 * happens per cooldown, so that made-up key ids cannot flood the issuer. During an outage the last valid set stays in
 * force for a while; then every token is rejected.
 */
export function createKeySet(options: KeySetOptions): KeySet {
  const { clock, issuer } = options;
  let keys: KeyOf | undefined;
  let thumbprints: ReadonlySet<string> | undefined;
  let loadedAt = 0;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;
  let isFailing = false;
  const report = (failure: Error | undefined): void => {
    if (isFailing === (failure !== undefined)) return;
    isFailing = !isFailing;
    options.onAvailabilityChange?.(failure);
  };

  const fetchKeys = async (): Promise<void> => {
    attemptedAt = clock.now();
    try {
      const published = readKeySet(await options.load());
      ({ keyOf: keys, thumbprints } = await openKeys(published));
      loadedAt = clock.now();
      report(undefined);
    } catch (error) {
      // The last valid set is used, if there is one.
      report(error as Error);
    } finally {
      pending = undefined;
    }
  };
  // A clock that jumps back must not stop the fetching.
  const isOver = (since: number, wait: number): boolean => Math.abs(clock.now() - since) >= wait;
  const refresh = (): Promise<void> => {
    if (pending === undefined && isOver(attemptedAt, options.cooldownMs)) pending = fetchKeys();
    return pending ?? Promise.resolve();
  };

  const keyOf: KeyOf = async (header, token) => {
    if (keys === undefined || isOver(loadedAt, options.cacheMs)) await refresh();
    if (keys === undefined || isOver(loadedAt, options.cacheMs + options.staleMs)) {
      throw new CountersignError("ERR_ACCESS_KEYS", "the issuer's keys could not be fetched", {
        issuer,
      });
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    const before = loadedAt;
    await refresh();
    if (loadedAt === before || keys === undefined) throw new errors.JWKSNoMatchingKey();
    return keys(header, token);
  };
  return {
    keyOf,
    hasKey: (thumbprint) => {
      if (thumbprints === undefined || isOver(loadedAt, options.cacheMs)) void refresh();
      return thumbprints?.has(thumbprint) ?? true;
    },
    get isStale() {
      return isFailing;
    },
  };
}

async function openKeys(
  keys: readonly JWK[],
): Promise<{ keyOf: KeyOf; thumbprints: ReadonlySet<string> }> {
  const found = await Promise.all(keys.map((key) => calculateJwkThumbprint(key).catch(() => "")));
  return { keyOf: createLocalJWKSet({ keys: [...keys] }), thumbprints: new Set(found) };
}

/** The RFC 7638 thumbprint of a key of a set. */
export async function thumbprintOf(key: CryptoKey): Promise<string> {
  return calculateJwkThumbprint(await exportJWK(key));
}

/** Accepts public keys of asymmetric algorithms only: with a shared secret in a public set, any reader could sign. */
export function readKeySet(bytes: Uint8Array): readonly JWK[] {
  const value = parseJson(bytes, { maxDepth: 8 });
  const list = isJsonObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(list) || list.length > MAX_KEYS) throw new TypeError("no key set");
  const keys = list.filter(
    (key) => isJsonObject(key) && ASYMMETRIC.has(key["kty"]) && !Object.hasOwn(key, "d"),
  );
  return keys as unknown as JWK[];
}

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
