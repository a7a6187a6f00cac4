import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An id or a name in an event or an input is longer than the log allows. */
    ERR_ID_TOO_LONG: { member: string; limit: number };
    /** An id, name or code in an event or an input has a control character, or an id has markup or only white space. */
    ERR_ID_CHARACTERS: { member: string };
  }
}
