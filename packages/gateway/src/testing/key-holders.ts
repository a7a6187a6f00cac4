import { sha256Hex } from "@countersign/core";
import { createAccess } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createKeyAuthenticator } from "../access/api-keys.js";

/** Two principals with a key each. */
export const KEYS = { alice: "a".repeat(43), bob: "b".repeat(43) } as const;

/** The name of one of them. */
export type KeyHolder = keyof typeof KEYS;

/** Access control that admits these two, and with `allowAnonymous` clients without a key. */
export function keyAccess(options: { allowAnonymous?: boolean } = {}): Access {
  const list = Object.entries(KEYS).map(([name, key]) => ({
    name,
    hash: `sha256:${sha256Hex(key)}`,
  }));
  return createAccess([createKeyAuthenticator(() => list)], options);
}

/** The authorization header of one of them. */
export function bearer(name: KeyHolder): { authorization: string } {
  return { authorization: `Bearer ${KEYS[name]}` };
}
