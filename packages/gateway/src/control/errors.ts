import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request to the control plane has an invalid field. */
    ERR_CONTROL_FIELD: { field: string; expected: string };
    /** A capability for a session without an owner, or with another one, was not requested explicitly. */
    ERR_CONTROL_SESSION_OWNER: { owner?: string };
  }
}
