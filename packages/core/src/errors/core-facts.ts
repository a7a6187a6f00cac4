/** Why a value has no canonical form. */
export type NotCanonicalReason = "lone-surrogate" | "number" | "type" | "prototype";

/**
 * Facts of the codes that this package throws itself.
 *
 * They are in one interface instead of augmentations: the compiler merges augmentations of a module
 * and of its re-export in an order that depends on the order of the files.
 */
export interface CoreErrorFacts {
  /** A bounded buffer, count or time exceeded its limit. */
  ERR_LIMIT_EXCEEDED: { limit: string; allowed: number; offset?: number };
  /** Text that is not hexadecimal. */
  ERR_BYTES_HEX: { offset: number };
  /** Text that is not canonical base64 or base64url. */
  ERR_BYTES_BASE64: { offset: number };
  /** The text is not JSON; `offset` is the byte where parsing stopped. */
  ERR_JSON_SYNTAX: { offset: number };
  /** The text starts with a byte order mark. */
  ERR_JSON_BOM: { offset: number };
  /** The bytes are not UTF-8. */
  ERR_JSON_UTF8: { offset: number };
  /** A string or a key contains half of a surrogate pair, raw or as `\u` escape. */
  ERR_JSON_LONE_SURROGATE: { offset: number };
  /** An object has a duplicate key, after unescaping. */
  ERR_JSON_DUPLICATE_KEY: { offset: number };
  /** A number that a double cannot represent without changing it. */
  ERR_JSON_UNSAFE_NUMBER: { offset: number };
  /** Arrays and objects nested deeper than allowed. */
  ERR_JSON_TOO_DEEP: { allowed: number; offset?: number };
  ERR_JSON_TOO_MANY: { allowed: number; offset: number };
  /** The text has more bytes than allowed. */
  ERR_JSON_TOO_LARGE: { allowed: number; offset: number };
  /** A value without an RFC 8785 form. */
  ERR_JSON_NOT_CANONICAL: { reason: NotCanonicalReason };
  /** A key, seed or signature of the wrong length. */
  ERR_ED25519_LENGTH: {
    what: "public key" | "private key" | "signature";
    expected: number;
    actual: number;
  };
  /** Text that is not the PEM form of one Ed25519 key of the expected kind. */
  ERR_ED25519_PEM: { expected: "PUBLIC KEY" | "PRIVATE KEY" };
  /** A public key of small order or in a non-canonical form: anyone can sign for it. */
  ERR_ED25519_WEAK_KEY: Record<never, never>;
  /** The runtime has no Ed25519. */
  ERR_ED25519_UNAVAILABLE: Record<never, never>;
}
