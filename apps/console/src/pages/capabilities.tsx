import type { ReactNode } from "react";
import type { Capabilities } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { CapabilityList } from "./capability-list.js";
import { IssueForm } from "./issue-form.js";
import { RevokeForm } from "./revoke-form.js";

/** Tokens for what a policy does not open to everybody. */
export function CapabilitiesPage(): ReactNode {
  const capabilities = useResource<Capabilities>("/v1/capabilities?limit=500", 5000);
  return (
    <>
      <h1 tabIndex={-1}>Capabilities</h1>
      <p className="faint">
        A capability token is signed. It allows an agent to send events that the policy blocks
        without a token.
      </p>
      <CapabilityList capabilities={capabilities} />
      <div className="columns">
        <IssueForm onIssued={capabilities.reload} />
        <RevokeForm onRevoked={capabilities.reload} />
      </div>
    </>
  );
}
