import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A frame held JSON that is not an object. */
    ERR_DECODE_NOT_OBJECT: Record<string, never>;
  }
}
