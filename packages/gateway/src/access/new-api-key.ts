import { encodeBase64Url, sha256Hex } from "@countersign/core";
import { randomBytes } from "node:crypto";

/** A key for its holder and the hash for the configuration. */
export type NewApiKey = { readonly key: string; readonly hash: string };

/** The opening of every key, so that scanners for leaked secrets know one when they see it. */
const PREFIX = "csk_";

/** Makes a key of 256 random bits: guessing it is hopeless, so a plain hash is enough to keep. */
export function createApiKey(): NewApiKey {
  const key = PREFIX + encodeBase64Url(randomBytes(32));
  return { key, hash: `sha256:${sha256Hex(key)}` };
}
