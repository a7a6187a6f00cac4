/** Why a value has no canonical form. */
export type NotCanonicalReason = "lone-surrogate" | "number" | "type" | "prototype";

/**
 * Facts of the codes that this package throws itself.
 *
 * They stand in one interface rather than in augmentations: the compiler merges augmentations of a
 * module and of its re-export in an order that depends on the files it happens to read first.
 */
export interface CoreErrorFacts {
  /** A bounded buffer, count or time went over its limit. */
  ERR_LIMIT_EXCEEDED: { limit: string; allowed: number; offset?: number };
  /** Text that is not the hexadecimal form of bytes. */
  ERR_BYTES_HEX: { offset: number };
  /** Text that is not the one valid base64 or base64url form of bytes. */
  ERR_BYTES_BASE64: { offset: number };
  /** The text is not JSON; `offset` is the byte where reading had to stop. */
  ERR_JSON_SYNTAX: { offset: number };
  /** A byte order mark stands before the text. */
  ERR_JSON_BOM: { offset: number };
  /** The bytes are not UTF-8. */
  ERR_JSON_UTF8: { offset: number };
  /** A string or a key holds half of a surrogate pair, raw or as `\u` escape. */
  ERR_JSON_LONE_SURROGATE: { offset: number };
  /** An object names a key twice, after unescaping. */
  ERR_JSON_DUPLICATE_KEY: { offset: number };
  /** A number that a double cannot carry without changing it. */
  ERR_JSON_UNSAFE_NUMBER: { offset: number };
  /** Arrays and objects nested deeper than allowed. */
  ERR_JSON_TOO_DEEP: { allowed: number; offset?: number };
  ERR_JSON_TOO_MANY: { allowed: number; offset: number };
  /** The text has more bytes than allowed. */
  ERR_JSON_TOO_LARGE: { allowed: number; offset: number };
  /** A value that RFC 8785 cannot write. */
  ERR_JSON_NOT_CANONICAL: { reason: NotCanonicalReason };
  /** A key, seed or signature that does not have the one length it must have. */
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
