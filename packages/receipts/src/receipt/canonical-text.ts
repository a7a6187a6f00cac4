import { isWellFormed } from "@countersign/core";
import { formatError } from "./errors.js";

const encoder = new TextEncoder();

// Printable ASCII without quote and backslash needs no escaping: nearly every member.
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** A string in RFC 8785 form; lone surrogates have no canonical form and are rejected. */
export function canonicalText(member: string, value: string): string {
  if (PLAIN.test(value)) return `"${value}"`;
  if (!isWellFormed(value)) {
    throw formatError("ERR_RECEIPT_MALFORMED", `${member} holds a lone surrogate`, {
      member,
      reason: "lone surrogate",
    });
  }
  // JSON.stringify escapes exactly what RFC 8785 section 3.2.2.2 escapes.
  return JSON.stringify(value);
}

/** A non-negative integer in RFC 8785 form. */
export function canonicalCount(member: string, value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw formatError("ERR_RECEIPT_MALFORMED", `${member} is not a whole number`, {
      member,
      reason: "not a non-negative safe integer",
    });
  }
  return String(value === 0 ? 0 : value);
}

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}
