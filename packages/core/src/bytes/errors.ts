import "../errors/error.js";

declare module "../errors/error.js" {
  interface ErrorFacts {
    /** Text that is not the hexadecimal form of bytes. */
    ERR_BYTES_HEX: { offset: number };
    /** Text that is not the one valid base64 or base64url form of bytes. */
    ERR_BYTES_BASE64: { offset: number };
  }
}
