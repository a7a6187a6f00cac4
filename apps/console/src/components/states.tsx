import type { ReactNode } from "react";
import type { ControlProblem } from "../api/request.js";
import { Text } from "./text.js";

/** A placeholder while data loads, as tall as the content, so that the layout does not shift. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="state" role="status">
      <span className="pulse" aria-hidden="true" /> Loading {what}…
    </p>
  );
}

/** An empty list, and how to fill it. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className="state">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

/** A failed request, its reason and its fix. */
export function Failure({
  problem,
  onRetry,
}: {
  readonly problem: ControlProblem;
  readonly onRetry?: () => void;
}): ReactNode {
  return (
    <div className="state failure" role="alert">
      <strong>
        <Text value={problem.message} isWrapped />
      </strong>
      <p>
        {remedyOf(problem)}{" "}
        <code>
          <Text value={problem.code} isWrapped />
        </code>
      </p>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}

function remedyOf({ status, code }: ControlProblem): string {
  if (status === 0) return "Check that the gateway is running; this page retries automatically.";
  if (code === "RECEIPT_UNKNOWN")
    return "The log has no entry with this number yet. See the newest receipts.";
  if (code === "NOT_FOUND") return "This gateway does not offer this.";
  if (code === "ERR_CONTROL_ROLE") return "Ask an operator with that role.";
  if (status === 409) return "Look at the current state, then try again.";
  if (status === 404)
    return "The run may have ended, or another gateway holds it. See the list of runs.";
  if (status === 503)
    return "The receipt store or another gateway is unavailable. See /readyz and the gateway's log.";
  if (code === "ERR_CONTROL_FIELD") return "Correct the filter or field that the message names.";
  return "See the gateway's log for the cause.";
}
