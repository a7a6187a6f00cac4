import { CountersignError, isJsonObject, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { createLocalJWKSet, errors } from "jose";
import type { CryptoKey, FlattenedJWSInput, JWK, JWSHeaderParameters } from "jose";
import type { Clock } from "../base/ports.js";
import "./errors.js";

/** Finds the key a token names; the shape `jose` asks for. */
export type KeyOf = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** Where the keys of an issuer come from, and how long they may be used. */
export type KeySetOptions = {
  readonly issuer: string;
  readonly clock: Clock;
  /** Gets the bytes of the set; rejects when it cannot be had. */
  load(): Promise<Uint8Array>;
  /** Milliseconds after which the set is fetched again. */
  readonly cacheMs: number;
  /** Milliseconds between two fetches, whatever asks for them. */
  readonly cooldownMs: number;
  /** Milliseconds the last good set serves while a new one cannot be had. */
  readonly staleMs: number;
  /** Told when a set cannot be had, and when one can again: once each. */
  onTurn?(failure: Error | undefined): void;
};

const MAX_KEYS = 100;
const ASYMMETRIC: ReadonlySet<JsonValue | undefined> = new Set(["RSA", "EC", "OKP"]);

/**
 * The keys of an issuer, kept fresh.
 *
 * A token under an unknown key id makes us look again, once for everybody within the cooldown: an issuer
 * rotates without telling, and a stranger who makes up ids must not turn us against it. An outage leaves
 * the last good set in force for a while; then nobody is let in.
 */
export function createKeySet(options: KeySetOptions): KeyOf {
  const { clock, issuer } = options;
  let keys: KeyOf | undefined;
  let goodAt = 0;
  let triedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;
  let isFailing = false;
  const tell = (failure: Error | undefined): void => {
    if (isFailing === (failure !== undefined)) return;
    isFailing = !isFailing;
    options.onTurn?.(failure);
  };

  const fetchKeys = async (): Promise<void> => {
    triedAt = clock.now();
    try {
      keys = readKeySet(await options.load());
      goodAt = clock.now();
      tell(undefined);
    } catch (error) {
      // What is left of the last good set decides.
      tell(error as Error);
    } finally {
      pending = undefined;
    }
  };
  // A clock that jumps back must not stop us from looking.
  const isOver = (since: number, wait: number): boolean => Math.abs(clock.now() - since) >= wait;
  const refresh = (): Promise<void> => {
    if (pending === undefined && isOver(triedAt, options.cooldownMs)) pending = fetchKeys();
    return pending ?? Promise.resolve();
  };

  return async (header, token) => {
    if (keys === undefined || isOver(goodAt, options.cacheMs)) await refresh();
    if (keys === undefined || isOver(goodAt, options.cacheMs + options.staleMs)) {
      throw new CountersignError("ERR_ACCESS_KEYS", "the keys of the issuer cannot be had", {
        issuer,
      });
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    const before = goodAt;
    await refresh();
    if (goodAt === before || keys === undefined) throw new errors.JWKSNoMatchingKey();
    return keys(header, token);
  };
}

/** Public keys of an asymmetric kind only: a shared secret in a public set would let anybody sign. */
export function readKeySet(bytes: Uint8Array): KeyOf {
  const value = parseJson(bytes, { maxDepth: 8 });
  const list = isJsonObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(list) || list.length > MAX_KEYS) throw new TypeError("no key set");
  const keys = list.filter(
    (key) => isJsonObject(key) && ASYMMETRIC.has(key["kty"]) && !Object.hasOwn(key, "d"),
  );
  return createLocalJWKSet({ keys: keys as unknown as JWK[] });
}
