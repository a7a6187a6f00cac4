import { sha256Hex } from "@countersign/core";
import { createAccess } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createKeyAuthenticator } from "../access/api-keys.js";

/** Two principals with a key each. */
export const KEYS = { alice: "a".repeat(43), bob: "b".repeat(43) } as const;

/** The name of one of them. */
export type KeyHolder = keyof typeof KEYS;

/** Access control that admits only these two. */
export function keyAccess(): Access {
  const list = Object.entries(KEYS).map(([name, key]) => ({
    name,
    hash: `sha256:${sha256Hex(key)}`,
  }));
  return createAccess([createKeyAuthenticator(() => list)]);
}

/** The authorization header of one of them. */
export function bearer(name: KeyHolder): { authorization: string } {
  return { authorization: `Bearer ${KEYS[name]}` };
}
