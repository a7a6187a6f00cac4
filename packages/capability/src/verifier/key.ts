import type { JsonValue } from "@countersign/core";
import { canonicalJson, isWellFormed, sha256Hex } from "@countersign/core";
import { MAX_CHIO_BYTES, MAX_TOKEN_LENGTH } from "../model/limits.js";

/** The maximum number of values in a token; the traversal stops here for larger objects. */
const MAX_VALUES = 8192;

/** The cache key of a token; `undefined` for input that is too large or not a token. */
export function tokenKey(value: JsonValue): string | undefined {
  if (typeof value === "string") {
    const most = value.startsWith("{") ? MAX_CHIO_BYTES : MAX_TOKEN_LENGTH;
    // UTF-8 encodes every lone surrogate as the same bytes, so two texts would share one key.
    if (value.length > most || !isWellFormed(value)) return undefined;
    return sha256Hex(value);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  if (!isSmall(value)) return undefined;
  try {
    // An object and its text are two forms of one token; "{" distinguishes objects from texts.
    return `{${sha256Hex(canonicalJson(value))}`;
  } catch {
    return undefined;
  }
}

function isSmall(root: JsonValue): boolean {
  let characters = 0;
  let values = 0;
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (++values > MAX_VALUES || characters > MAX_CHIO_BYTES) return false;
    if (typeof value === "string") characters += value.length;
    else if (value !== null && typeof value === "object") {
      if (Array.isArray(value)) {
        if (value.length > MAX_VALUES) return false;
        pending.push(...value);
      } else {
        for (const name of Object.keys(value)) {
          characters += name.length;
          pending.push(value[name] ?? null);
          if (pending.length > MAX_VALUES) return false;
        }
      }
    }
  }
  return characters <= MAX_CHIO_BYTES;
}
