import "../errors/error.js";

/** Why a value has no canonical form. */
export type NotCanonicalReason = "lone-surrogate" | "number" | "type" | "prototype";

declare module "../errors/error.js" {
  interface ErrorFacts {
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
    /** The text has more bytes than allowed. */
    ERR_JSON_TOO_LARGE: { allowed: number; offset: number };
    /** A value that RFC 8785 cannot write. */
    ERR_JSON_NOT_CANONICAL: { reason: NotCanonicalReason };
  }
}
