import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The stream holds bytes that are not UTF-8. */
    ERR_SSE_UTF8: { offset: number };
    /** The stream ended inside an event block, and the caller asked to refuse that. */
    ERR_SSE_UNTERMINATED: { offset: number };
    /** A field to be written would break out of its line. */
    ERR_SSE_FIELD: { field: "data" | "event" | "id" | "comment" };
  }
}
