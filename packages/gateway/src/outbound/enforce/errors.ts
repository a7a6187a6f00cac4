import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An id or a name of an event or an input is longer than the log may carry. */
    ERR_ID_TOO_LONG: { member: string; limit: number };
    /** An id, a name or a code of an event or an input has a control character, or an id holds markup or white space only. */
    ERR_ID_CHARACTERS: { member: string };
  }
}
