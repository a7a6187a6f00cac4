import { encodeBase64Url, sha256 } from "@countersign/core";
import { MAX_NARROWINGS, MAX_TOKEN_LENGTH } from "../model/limits.js";
import { malformed } from "../reading/read.js";
import type { CompactToken } from "./compact.js";
import { readCompact } from "./compact.js";

/**
 * Separates a token from its narrowing; legal in a bearer token and in a WebSocket sub-protocol.
 */
const SEPARATOR = "~";

/** One link, and the text up to and including it. */
export type ChainLink = CompactToken & { readonly text: string };

/**
 * Splits a token text: the issuer's JWS, then each narrowing after a `~`.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function readChain(text: string): readonly [ChainLink, ...ChainLink[]] {
  if (text.length > MAX_TOKEN_LENGTH) throw malformed("length");
  const parts = text.split(SEPARATOR, MAX_NARROWINGS + 2);
  if (parts.length > MAX_NARROWINGS + 1) throw malformed("number of narrowings");
  let end = -1;
  const links = parts.map((part) => {
    end += part.length + 1;
    return { ...readCompact(part), text: text.slice(0, end) };
  });
  const [root, ...narrowings] = links;
  if (root === undefined) throw malformed("length");
  return [root, ...narrowings];
}

/** A token text with one more link. */
export function appendLink(parent: string, link: string): string {
  const text = `${parent}${SEPARATOR}${link}`;
  if (text.length > MAX_TOKEN_LENGTH) throw malformed("length");
  return text;
}

/**
 * The digest by which a narrowing names its parent: it covers the whole text, signatures included.
 */
export function parentDigest(text: string): string {
  return encodeBase64Url(sha256(text));
}
