import { encodeBase64Url, sha256Hex } from "@countersign/core";
import { randomBytes } from "node:crypto";

/** A key for its holder, and the hash for the configuration. */
export type NewApiKey = { readonly key: string; readonly hash: string };

/** The prefix of every key, by which scanners for leaked secrets recognise it. */
const PREFIX = "csk_";

/** Creates a key of 256 random bits. It cannot be guessed, so storing a plain hash is enough. */
export function createApiKey(): NewApiKey {
  const key = PREFIX + encodeBase64Url(randomBytes(32));
  return { key, hash: `sha256:${sha256Hex(key)}` };
}
