import type { ReactNode } from "react";
import { IssueForm } from "./issue-form.js";
import { RevokeForm } from "./revoke-form.js";

/** Tokens for what a policy does not open to everybody. */
export function CapabilitiesPage(): ReactNode {
  return (
    <>
      <h1 tabIndex={-1}>Capabilities</h1>
      <p className="faint">
        A capability token is signed. It allows an agent to send events that the policy blocks
        without a token.
      </p>
      <div className="columns">
        <IssueForm />
        <RevokeForm />
      </div>
    </>
  );
}
