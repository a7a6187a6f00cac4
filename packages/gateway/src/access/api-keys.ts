import { decodeHex, sha256, sha256Hex, encodeBase64Url } from "@countersign/core";
import { timingSafeEqual, randomBytes } from "node:crypto";
import type { Authenticator, Grant } from "./access.js";

/** A key in the configuration: the name of its holder and its SHA-256 hash. */
export type ApiKeyEntry = { readonly name: string; readonly hash: string };

/** The current entries; a list in a file may change while the gateway runs. */
export type ApiKeyList = () => readonly ApiKeyEntry[];

/** The format of a key hash. */
export const KEY_HASH = /^sha256:[0-9a-f]{64}$/;

/**
 * Authenticates clients by API keys of high entropy; only hashes are stored.
 *
 * Every entry is compared in constant time and none is skipped, so that timing reveals neither a partial match nor
 * the matching entry.
 */
export function createKeyAuthenticator(list: ApiKeyList): Authenticator {
  let decoded: { entries: readonly ApiKeyEntry[]; hashes: readonly Uint8Array[] } | undefined;
  const current = (): NonNullable<typeof decoded> => {
    const entries = list();
    if (decoded?.entries !== entries) {
      decoded = { entries, hashes: entries.map(({ hash }) => decodeHex(hash.slice(7))) };
    }
    return decoded;
  };
  const grantOf = (entry: ApiKeyEntry): Grant => ({
    principal: { id: `key:${entry.name}` },
    // Computed on demand: most credentials are never exchanged for a ticket.
    get name() {
      return { way: wayOf(entry), principal: `key:${entry.name}` };
    },
    isValid: () => list().some(({ name, hash }) => name === entry.name && hash === entry.hash),
  });
  return {
    authenticate: (token) => {
      const shown = sha256(token);
      const { entries, hashes } = current();
      let found = -1;
      hashes.forEach((hash, index) => {
        if (timingSafeEqual(hash, shown)) found = index;
      });
      const entry = entries[found];
      return Promise.resolve(entry === undefined ? undefined : grantOf(entry));
    },
    // Requires the same key: a key that was removed from this gateway's list, or replaced, restores nothing.
    restore: ({ way, principal }) => {
      const entry = list().find((one) => `key:${one.name}` === principal && wayOf(one) === way);
      return entry === undefined ? undefined : grantOf(entry);
    },
  };
}

/** Hashes the stored hash again, so that a ticket does not contain the hash from the list. */
function wayOf({ name, hash }: ApiKeyEntry): string {
  return `key ${sha256Hex(`${name} ${hash}`)}`;
}

/** A key for its holder, and the hash for the configuration. */
export type NewApiKey = { readonly key: string; readonly hash: string };

/** The prefix of every key, by which scanners for leaked secrets recognise it. */
const PREFIX = "csk_";

/** Creates a key of 256 random bits. It cannot be guessed, so storing a plain hash is enough. */
export function createApiKey(): NewApiKey {
  const key = PREFIX + encodeBase64Url(randomBytes(32));
  return { key, hash: `sha256:${sha256Hex(key)}` };
}
