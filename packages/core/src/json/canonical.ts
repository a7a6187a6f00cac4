import { CountersignError } from "../errors/error.js";
import type { NotCanonicalReason } from "./errors.js";
import { isWellFormed } from "./well-formed.js";
import type { JsonValue } from "./value.js";

/**
 * How deep a value may be before it has no canonical form: twice what the parser accepts, so that
 * anything parsed can also be hashed after it was wrapped in an event, a receipt or a log entry.
 */
const MAX_DEPTH = 128;

// Anything but the characters that stand for themselves: controls, quote, backslash, surrogates.
const NEEDS_CARE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/**
 * The canonical JSON text of a value (RFC 8785): sorted keys, no spaces, one spelling of each number
 * and string. Written by hand because the libraries of the field overflow their stack on deep values.
 *
 * @throws CountersignError `ERR_JSON_NOT_CANONICAL` on a lone surrogate, NaN, an infinity, a hole,
 *   `undefined`, a function, or an object that is not plain; `ERR_JSON_TOO_DEEP` past 128 levels and
 *   so on a cycle
 */
export function canonicalJson(value: JsonValue): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      // ECMAScript's own Number::toString is the number form RFC 8785 §3.2.2.3 prescribes.
      if (!Number.isFinite(value)) throw refusal("number");
      return value === 0 ? "0" : String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === MAX_DEPTH) throw tooDeep();
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
    default:
      throw refusal("type");
  }
}

function writeArray(items: readonly unknown[], depth: number): string {
  if (items.length === 0) return "[]";
  let text = "[" + write(items[0], depth);
  for (let index = 1; index < items.length; index++) text += "," + write(items[index], depth);
  return text + "]";
}

function writeObject(object: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw refusal("prototype");
  const keys = Object.keys(object);
  if (keys.length > 1) keys.sort();
  let text = "{";
  for (const key of keys) {
    if (text.length > 1) text += ",";
    text += quote(key) + ":" + write((object as Record<string, unknown>)[key], depth);
  }
  return text + "}";
}

function quote(text: string): string {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  // JSON.stringify escapes exactly as RFC 8785 §3.2.2.2 asks, except that it lets lone surrogates pass.
  if (!isWellFormed(text)) throw refusal("lone-surrogate");
  return JSON.stringify(text);
}

function refusal(reason: NotCanonicalReason): CountersignError {
  return new CountersignError("ERR_JSON_NOT_CANONICAL", `no canonical form: ${reason}`, { reason });
}

function tooDeep(): CountersignError {
  return new CountersignError("ERR_JSON_TOO_DEEP", `nested deeper than ${MAX_DEPTH}`, {
    allowed: MAX_DEPTH,
  });
}
