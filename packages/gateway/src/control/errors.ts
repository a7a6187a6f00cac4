import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request to the control plane has a field of the wrong kind. */
    ERR_CONTROL_FIELD: { field: string; expected: string };
    /** A capability for a session without an owner, or of another principal, was not asked for in words. */
    ERR_CONTROL_SESSION_OWNER: { owner?: string };
  }
}
