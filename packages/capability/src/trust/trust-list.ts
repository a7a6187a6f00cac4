import { encodeHex } from "@countersign/core";
import { isName } from "../reading/read.js";
import type { PublicKeyInput } from "./public-key.js";
import { keyName, keyThumbprint, readPublicKey } from "./public-key.js";

/** An issuer by its key alone, or by a name with its keys (two while it rotates). */
export type TrustedIssuer =
  | PublicKeyInput
  | { readonly issuer: string; readonly keys: readonly PublicKeyInput[] };

/** The trusted issuers. */
export type TrustList = {
  /** The key that a token names by `iss` and `kid`; only keys of that issuer count. */
  find(issuer: string, keyId: string): Uint8Array | undefined;
  /** The key itself, if any issuer signs with it (Chio tokens name issuers by key). */
  findKey(hex: string): Uint8Array | undefined;
  /** The names of all issuers. */
  readonly issuers: readonly string[];
};

/**
 * Creates a trust list. A key without a name is an issuer called `ed25519:<hex>`.
 *
 * @throws CountersignError `ERR_CAPABILITY_KEY` on an invalid or weak key
 * @throws TypeError on an issuer without a valid name or without keys
 */
export function createTrustList(issuers: readonly TrustedIssuer[]): TrustList {
  const byIssuer = new Map<string, Map<string, Uint8Array>>();
  const byKey = new Map<string, Uint8Array>();
  for (const entry of issuers) {
    const named = readIssuer(entry);
    const keys = byIssuer.get(named.issuer) ?? new Map<string, Uint8Array>();
    byIssuer.set(named.issuer, keys);
    for (const key of named.keys) {
      keys.set(keyThumbprint(key), key);
      byKey.set(encodeHex(key), key);
    }
  }
  return {
    find: (issuer, keyId) => byIssuer.get(issuer)?.get(keyId),
    findKey: (hex) => byKey.get(hex),
    issuers: [...byIssuer.keys()],
  };
}

function readIssuer(entry: TrustedIssuer): { issuer: string; keys: Uint8Array[] } {
  if (isNamed(entry)) {
    if (!isName(entry.issuer))
      throw new TypeError("an issuer needs a name without control characters");
    if (entry.keys.length === 0) throw new TypeError(`issuer ${entry.issuer} has no keys`);
    return { issuer: entry.issuer, keys: entry.keys.map(readPublicKey) };
  }
  const key = readPublicKey(entry);
  return { issuer: keyName(key), keys: [key] };
}

function isNamed(
  entry: TrustedIssuer,
): entry is { readonly issuer: string; readonly keys: readonly PublicKeyInput[] } {
  return (
    typeof entry === "object" && !(entry instanceof Uint8Array) && Object.hasOwn(entry, "keys")
  );
}
