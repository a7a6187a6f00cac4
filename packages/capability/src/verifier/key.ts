import type { JsonValue } from "@countersign/core";
import { canonicalJson, isWellFormed, sha256Hex } from "@countersign/core";
import { MAX_CHIO_BYTES, MAX_TOKEN_LENGTH } from "../model/limits.js";

/** No token has more values than this; a walk stops here, however large an object is presented. */
const MAX_VALUES = 8192;

/** The name under which a token is remembered; `undefined` for what is too large or no token at all. */
export function tokenKey(value: JsonValue): string | undefined {
  if (typeof value === "string") {
    const most = value.startsWith("{") ? MAX_CHIO_BYTES : MAX_TOKEN_LENGTH;
    // UTF-8 writes every half of a surrogate pair as the same bytes, so two texts would share one name.
    if (value.length > most || !isWellFormed(value)) return undefined;
    return sha256Hex(value);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  if (!isSmall(value)) return undefined;
  try {
    // An object and its text are two presentations of one token; "{" keeps objects apart from texts.
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
