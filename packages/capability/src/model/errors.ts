import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** Text or an object that is no capability token; `what` names the part that is wrong. */
    ERR_CAPABILITY_MALFORMED: { what: string };
    /** A narrowing that would allow more than its parent; `field` names the claim. */
    ERR_CAPABILITY_WIDENS: { field: string };
    /** A narrowing by somebody the parent does not name as its holder. */
    ERR_CAPABILITY_NOT_HOLDER: { id: string };
    /** A key of an issuer, a holder or an agent that cannot be read. */
    ERR_CAPABILITY_KEY: { expected: string };
    /** A line of a revocation file that is no revocation. */
    ERR_CAPABILITY_REVOCATION_LINE: { line: number };
  }
}
