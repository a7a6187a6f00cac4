import { equalBytes } from "@countersign/core";
import { decode, encode, Tag } from "cbor2";
import { formatError } from "../receipt/errors.js";

/** The part of CBOR that COSE objects of our profile are made of. */
export type CborValue = number | string | Uint8Array | null | CborValue[] | CborMap | CborTag;
export type CborMap = Map<number | string, CborValue>;
export type CborTag = { readonly tag: number; readonly value: CborValue };

/** A transparent statement nests five deep: tag, array, unprotected header, receipts, bytes. */
const MAX_DEPTH = 8;
/** The tag of a COSE_Sign1, the only one of the profile. */
const COSE_SIGN1 = 18;

/** Encodes a value as deterministic CBOR (RFC 8949 section 4.2.1). */
export function encodeCbor(value: CborValue): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(encode(toLibrary(value), { cde: true }));
}

/**
 * Decodes one item of deterministic CBOR. Other encodings of the same item, duplicate keys, floats,
 * indefinite lengths, unknown tags and bytes after the item are refused.
 */
export function decodeCbor(part: string, bytes: Uint8Array, maxBytes: number): CborValue {
  if (bytes.length > maxBytes) throw malformed(part, `more than ${maxBytes} bytes`);
  let value: CborValue;
  try {
    value = fromLibrary(
      decode(bytes, { cde: true, ignoreGlobalTags: true, maxDepth: MAX_DEPTH, preferMap: true }),
    );
  } catch (cause) {
    throw formatError(
      "ERR_COSE_MALFORMED",
      `${part} is not deterministic CBOR`,
      { part, reason: "CBOR" },
      cause,
    );
  }
  // The library checks most of the rules; one encoding per value is what all of them are for.
  if (!equalBytes(encodeCbor(value), bytes)) throw malformed(part, "not deterministic CBOR");
  return value;
}

/** A coded error about a part of a COSE object. */
export function malformed(part: string, reason: string): Error {
  return formatError("ERR_COSE_MALFORMED", `${part}: ${reason}`, { part, reason });
}

function toLibrary(value: CborValue): unknown {
  if (value === null || typeof value !== "object") return value;
  if (value instanceof Uint8Array) return plainBytes(value);
  if (Array.isArray(value)) return value.map(toLibrary);
  if (value instanceof Map) {
    return new Map([...value].map(([key, member]) => [key, toLibrary(member)]));
  }
  return new Tag(value.tag, toLibrary(value.value));
}

/** The library writes a Buffer of Node as another type than a byte string. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Narrows a decoded item to the types of the profile; throws for others. */
function fromLibrary(value: unknown): CborValue {
  if (value === null || typeof value === "string") return value;
  if (value instanceof Uint8Array) return plainBytes(value);
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (Array.isArray(value)) return value.map(fromLibrary);
  if (value instanceof Map) {
    const map: CborMap = new Map();
    for (const [key, member] of value) {
      if (typeof key !== "string" && !Number.isSafeInteger(key)) throw new TypeError("a map key");
      map.set(key, fromLibrary(member));
    }
    return map;
  }
  if (value instanceof Tag && value.tag === COSE_SIGN1) {
    return { tag: COSE_SIGN1, value: fromLibrary(value.contents) };
  }
  throw new TypeError("a type that the profile does not use");
}
