import { sha256Hex } from "@countersign/core";
import { createAccess } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createKeyAuthenticator } from "../access/api-keys.js";

/** Two people with a key each. */
export const KEYS = { alice: "a".repeat(43), bob: "b".repeat(43) } as const;

/** One of them. */
export type KeyHolder = keyof typeof KEYS;

/** Lets the two in, and nobody else. */
export function keyAccess(): Access {
  const list = Object.entries(KEYS).map(([name, key]) => ({
    name,
    hash: `sha256:${sha256Hex(key)}`,
  }));
  return createAccess([createKeyAuthenticator(() => list)]);
}

/** The header by which one of them is known. */
export function bearer(name: KeyHolder): { authorization: string } {
  return { authorization: `Bearer ${KEYS[name]}` };
}
