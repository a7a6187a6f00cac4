import { decodeHex, sha256, sha256Hex } from "@countersign/core";
import { timingSafeEqual } from "node:crypto";
import type { Authenticator, Grant } from "./access.js";

/** A key as the configuration knows it: who holds it, and the SHA-256 of it. */
export type ApiKeyEntry = { readonly name: string; readonly hash: string };

/** Entries as they are now; a list in a file may change while the gateway runs. */
export type ApiKeyList = () => readonly ApiKeyEntry[];

/** How the hash of a key is written. */
export const KEY_HASH = /^sha256:[0-9a-f]{64}$/;

/**
 * Knows people by keys of high entropy; only hashes are kept.
 *
 * All entries are compared in constant time and none is skipped, so that the time tells neither how
 * much of a hash fits nor whose it is.
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
    // Made when it is asked for: most credentials open no ticket.
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
    // The very key: one that was taken out of this gateway's list, or exchanged, opens nothing here.
    restore: ({ way, principal }) => {
      const entry = list().find((one) => `key:${one.name}` === principal && wayOf(one) === way);
      return entry === undefined ? undefined : grantOf(entry);
    },
  };
}

/** Hashed once more: what the list keeps is for the list alone. */
function wayOf({ name, hash }: ApiKeyEntry): string {
  return `key ${sha256Hex(`${name} ${hash}`)}`;
}
