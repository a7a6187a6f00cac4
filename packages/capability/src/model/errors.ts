import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The input is not a capability token; `what` names the invalid part. */
    ERR_CAPABILITY_MALFORMED: { what: string };
    /** A narrowing would allow more than its parent; `field` names the claim. */
    ERR_CAPABILITY_WIDENS: { field: string };
    /** The signer of a narrowing is not the parent's holder. */
    ERR_CAPABILITY_NOT_HOLDER: { id: string };
    /** A key of an issuer, a holder or an agent is invalid. */
    ERR_CAPABILITY_KEY: { expected: string };
    /** A line of a revocation file is not a revocation. */
    ERR_CAPABILITY_REVOCATION_LINE: { line: number };
  }
}
