import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request to the control plane has a field of the wrong kind. */
    ERR_CONTROL_FIELD: { field: string; expected: string };
  }
}
